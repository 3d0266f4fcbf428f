package contract

import (
	"os"
	"testing"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/inprocess"
	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/server/options"
)

// TestRestart is about what outlives a process.
func TestRestart(t *testing.T) {
	root := t.TempDir()
	tokens := func(s *servertest.Server) (admin, master string) {
		return s.Config(t, "base").BearerToken, s.Config(t, "shard-base").BearerToken
	}
	first := servertest.StartIn(t, root)
	adminBefore, masterBefore := tokens(first)
	s := &suite{server: first, admin: adminBefore, master: masterBefore}
	path := s.universal(t)
	created, err := s.as(t, s.admin, path).kube().CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	ok(t, err)
	first.Stop()

	second := servertest.StartIn(t, root)
	adminAfter, masterAfter := tokens(second)
	if adminAfter == adminBefore {
		t.Error("the token of kcp-admin is good for one process only, and it is the same")
	}
	if masterAfter != masterBefore {
		t.Error("the token of shard-admin is kept by others, and it has changed")
	}
	s = &suite{server: second, admin: adminAfter, master: masterAfter}
	got(t, s.as(t, adminBefore, "root").get("/api"), 401)
	kept, err := s.as(t, s.master, path).kube().CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	ok(t, err)
	if kept.UID != created.UID || kept.ResourceVersion != created.ResourceVersion || kept.Data["a"] != "b" {
		t.Errorf("got %v, before it was %v", kept, created)
	}
}

// TestWithoutWorkspaceTypes is about the smallest set of types.
func TestWithoutWorkspaceTypes(t *testing.T) {
	server := servertest.Start(t, "--batteries-included=admin")
	s := &suite{server: server, admin: server.Config(t, "base").BearerToken}
	root := s.as(t, s.admin, "root")
	ws := root.workspace()
	if *ws.Spec.Type != typeUniversal {
		t.Errorf("without other types, children of root are %v", ws.Spec.Type)
	}
	_, err := root.create(ofType("root", "organization"))
	refused(t, err, 403, "organization")
}

// TestUserBattery is about the user who may do nothing yet.
func TestUserBattery(t *testing.T) {
	server := servertest.Start(t, "--batteries-included=+user")
	config, err := clientcmd.LoadFromFile(server.Kubeconfig)
	ok(t, err)
	context := config.Contexts["user"]
	if context == nil || config.Clusters[context.Cluster].Server != server.URL()+"/clusters/root" || context.AuthInfo != "user" {
		t.Fatalf("the context is %v", context)
	}
	s := &suite{server: server}
	token := config.AuthInfos["user"].Token
	info, err := s.as(t, token, "root").self()
	ok(t, err)
	if info.Username != "user" || len(info.Groups) != 1 {
		t.Errorf("got %v", info)
	}
	_, err = s.as(t, token, "root").create()
	refused(t, err, 403)
}

// TestWithoutAdmin is about servers whose admins come from elsewhere.
func TestWithoutAdmin(t *testing.T) {
	server, err := inprocess.Start(t.Context(), t.TempDir(), "--in-memory", "--batteries-included=-admin")
	ok(t, err)
	if _, err := os.Stat(server.Kubeconfig); !os.IsNotExist(err) {
		t.Errorf("there is a kubeconfig: %v", err)
	}
	ok(t, server.Stop())
}

// TestRefusedFlags is about starts that would not be what was asked for.
func TestRefusedFlags(t *testing.T) {
	for name, test := range map[string]struct {
		reason, flag string
		says         string
	}{
		"UserWithoutAdmin":     {"the user's kubeconfig is the admins'", "--batteries-included=user", "admin"},
		"UnknownBattery":       {"it may have been misspelled", "--batteries-included=+lamp", "lamp"},
		"MixedBatteries":       {"it is not clear what the set is", "--batteries-included=admin,+user", "batteries"},
		"UnknownAuthorization": {"a misspelled authorizer is one that is missing", "--authorization-order=AlwaysAllowGroups,RABC", "RABC"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options.NewOptions()
			flags := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
			o.AddFlags(flags)
			ok(t, flags.Parse([]string{"--root-directory=" + t.TempDir(), test.flag}))
			_, err := o.Complete()
			if err == nil {
				t.Fatalf("%s is accepted, and %s", test.flag, test.reason)
			}
			says(t, err.Error(), test.says)
		})
	}
}
