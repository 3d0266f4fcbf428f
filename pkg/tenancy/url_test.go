package tenancy_test

import (
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

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
