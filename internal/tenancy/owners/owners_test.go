package owners_test

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/tenancy/owners"
)

func TestEncode(t *testing.T) {
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
			got, err := owners.Encode(c.user)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
			if trimmed := owners.Trim(got); trimmed != c.trimmed {
				t.Errorf("%s: trimmed to %s, want %s", c.reason, trimmed, c.trimmed)
			}
		})
	}
	if got := owners.Trim("nonsense"); got != "nonsense" {
		t.Errorf("what cannot be read was changed to %s", got)
	}
}
