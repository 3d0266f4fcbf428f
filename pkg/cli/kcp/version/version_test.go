package version

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/run"
)

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct{ reason, output, want, err string }{
		"People":  {reason: "one line says it", want: "kcp v0.3.0 (Kubernetes 1.36.3)\n"},
		"JSON":    {reason: "programs get fields", output: "json", want: "{\n  \"version\": \"v0.3.0\",\n  \"kubernetes\": \"1.36.3\",\n  \"go\": \"go1.26\",\n  \"platform\": \"linux/amd64\"\n}\n"},
		"YAML":    {reason: "programs get fields", output: "yaml", want: "go: go1.26\nkubernetes: 1.36.3\nplatform: linux/amd64\nversion: v0.3.0\n"},
		"Unknown": {reason: "the known formats are named", output: "xml", err: `unknown output format "xml", known are json, yaml`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := &Options{
				Output:  tc.output,
				streams: run.Streams{Out: &out},
				info:    version.Info{Version: "v0.3.0", Kubernetes: "1.36.3", Go: "go1.26", Platform: "linux/amd64"},
			}
			err := o.Run()
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("%s: got %v, want %s", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
