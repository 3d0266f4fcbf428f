package tenancy_test

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/tenancy"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestEncodeOwner(t *testing.T) {
	cases := map[string]struct {
		reason  string
		user    user.Info
		want    string
		trimmed string
	}{
		"Name": {
			reason:  "empty parts are left out",
			user:    &user.DefaultInfo{Name: "alice"},
			want:    `{"username":"alice"}`,
			trimmed: `{"username":"alice"}`,
		},
		"All": {
			reason: "the order of the keys is part of the format",
			user: &user.DefaultInfo{
				Extra: map[string][]string{"b": {"2"}, "a": {"1"}}, Groups: []string{"g"}, UID: "u", Name: "alice",
			},
			want:    `{"username":"alice","uid":"u","groups":["g"],"extra":{"a":["1"],"b":["2"]}}`,
			trimmed: `{"username":"alice"}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tenancy.EncodeOwner(c.user)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
			if trimmed := tenancy.TrimOwner(got); trimmed != c.trimmed {
				t.Errorf("%s: trimmed to %s, want %s", c.reason, trimmed, c.trimmed)
			}
		})
	}
	if got := tenancy.TrimOwner("nonsense"); got != "nonsense" {
		t.Errorf("what cannot be read was changed to %s", got)
	}
}

func TestURLs(t *testing.T) {
	cases := map[string]struct {
		reason   string
		external string
		want     string
	}{
		"Plain":     {reason: "the usual case", external: "https://host:6443", want: "https://host:6443/clusters/root:org"},
		"Prefix":    {reason: "a path prefix is kept", external: "https://host/kcp/", want: "https://host/kcp/clusters/root:org"},
		"NoHost":    {reason: "an address must be one", external: "host:6443"},
		"Malformed": {reason: "what is no URL is an error", external: "https://ho st"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tenancy.WorkspaceURL(c.external, logicalcluster.MustParsePath("root:org"))
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s: got %q, %v, want %q", c.reason, got, err, c.want)
			}
		})
	}
}
