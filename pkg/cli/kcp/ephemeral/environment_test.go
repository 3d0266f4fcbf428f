package ephemeral

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestPrint(t *testing.T) {
	e := environment{{"KUBECONFIG", "/tmp/it's here/run.kubeconfig"}, {"KCP_WORKSPACE", "root:run"}}
	for form, want := range map[string]string{
		printEnv:    "export KUBECONFIG='/tmp/it'\\''s here/run.kubeconfig'\nexport KCP_WORKSPACE='root:run'\n",
		printDotenv: "KUBECONFIG=/tmp/it's here/run.kubeconfig\nKCP_WORKSPACE=root:run\n",
		printPath:   "/tmp/it's here/run.kubeconfig\n",
		printJSON:   "{\n  \"KCP_WORKSPACE\": \"root:run\",\n  \"KUBECONFIG\": \"/tmp/it's here/run.kubeconfig\"\n}\n",
	} {
		var out bytes.Buffer
		if err := e.print(&out, form); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("--print %s (-want +got):\n%s", form, diff)
		}
	}
}

func TestEnvironmentReplacesVariables(t *testing.T) {
	e := environment{{"KUBECONFIG", "new"}}
	got := e.over([]string{"HOME=/root", "KUBECONFIG=old", "KUBECONFIG_OLD=x"})
	if diff := cmp.Diff([]string{"HOME=/root", "KUBECONFIG_OLD=x", "KUBECONFIG=new"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", 30 * time.Second: "30s", time.Hour + 10*time.Second: "1h0m10s", 10 * time.Minute: "10m", 1500 * time.Millisecond: "1.5s"} {
		if got := span(d); got != want {
			t.Errorf("%v is %s, want %s", int64(d), got, want)
		}
	}
}

func TestUsers(t *testing.T) {
	users, err := parseUsers([]string{"alice=team-a,team-b", `o"neil`, "bob=,"})
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := writeTokens(&file, users); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(file.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{users[0].token, "alice", "alice", "team-a,team-b"},
		{users[1].token, `o"neil`, `o"neil`, ""},
		{users[2].token, "bob", "bob", ""},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(users[0].token) < 32 || users[0].token == users[1].token {
		t.Errorf("the tokens are %s and %s", users[0].token, users[1].token)
	}
}

func TestKubeconfig(t *testing.T) {
	given := api.NewConfig()
	given.Clusters[admin.BaseContext] = &api.Cluster{Server: "https://127.0.0.1:1", CertificateAuthorityData: []byte("ca")}
	given.AuthInfos[admin.AdminUser] = &api.AuthInfo{Token: "t"}
	given.Contexts["root"] = &api.Context{}
	given.CurrentContext = "root"
	config, err := kubeconfigFor(given, logicalcluster.MustParsePath("root:a"), []user{{name: "alice", token: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if cluster := config.Clusters[contextName]; cluster.Server != "https://127.0.0.1:1/clusters/root:a" || string(cluster.CertificateAuthorityData) != "ca" {
		t.Errorf("the cluster is %+v", cluster)
	}
	if config.CurrentContext != contextName || config.Contexts["root"] == nil {
		t.Errorf("the current context is %s of %v", config.CurrentContext, config.Contexts)
	}
	if alice := config.Contexts["alice"]; alice.Cluster != contextName || config.AuthInfos[alice.AuthInfo].Token != "x" {
		t.Errorf("the context of alice is %+v", alice)
	}
	if given.CurrentContext != "root" || len(given.Contexts) != 1 {
		t.Error("the admin kubeconfig itself was changed")
	}
	if _, err := kubeconfigFor(api.NewConfig(), logicalcluster.Root.Path(), nil); err == nil {
		t.Error("without the battery admin there is nobody to be")
	}
}
