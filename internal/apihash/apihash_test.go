package apihash_test

import (
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func cluster(t *testing.T, name string) logicalcluster.Name {
	t.Helper()
	parsed, err := logicalcluster.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestExport(t *testing.T) {
	for _, test := range []struct{ reason, cluster, name, want string }{
		{"an export of ours", "root", "tenancy.kcp.io", "bmCdly9xXiUpEHe3ypvDwvXMTfoVZUE92mqAQf"},
		{"an export of a workspace", "abcd1234", "my-export", "phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := apihash.Export(cluster(t, test.cluster), test.name); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			key := apihash.ClaimLabelKey(cluster(t, test.cluster), test.name)
			if key != "claimed.internal.apis.kcp.io/"+test.want {
				t.Errorf("claim label: %s", key)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	for key, want := range map[string]string{
		"abcd1234": "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae",
		"xxx":      "cd2eb0837c9b4c962c22d2ff8b5441b7b45805887f051d39bf133b583baf6860",
	} {
		if got := apihash.Identity([]byte(key)); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestBindingName(t *testing.T) {
	short := apihash.BindingName(cluster(t, "abc"), "root", "tenancy.kcp.io")
	if len(short) != len("tenancy.kcp.io-12345") || short != strings.ToLower(short) {
		t.Errorf("got %q", short)
	}
	if other := apihash.BindingName(cluster(t, "abd"), "root", "tenancy.kcp.io"); other == short {
		t.Errorf("two workspaces have %q", other)
	}
	if long := apihash.BindingName(cluster(t, "abc"), "root", strings.Repeat("a", 253)); len(long) != 253 {
		t.Errorf("%d characters: %s", len(long), long)
	}
}
