package workspacetypes

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

var creation = map[string]behavior{
	"ClusterAsPath":     {"row 19: a place given by its cluster is kept as it is, and children are let in by what it means", clusterAsPath},
	"NearestType":       {"row 18: of types of one name the nearest counts, and where it is is written down", nearestType},
	"UseIsEnough":       {"row 20: use is asked for where the type is, from one who may not enter there", useIsEnough},
	"UseOfStrangers":    {"what a service account may use elsewhere is not for one of the same name here", useOfStrangers},
	"NoDefault":         {"a parent whose type has no default for children says so", noDefault},
	"DefaultMissing":    {"a default that is not there is named, with the type that names it", defaultMissing},
	"DefaultRefused":    {"a default that may not be here is refused like any type", defaultRefused},
	"DefaultNotUsable":  {"a default needs use like any type", defaultNotUsable},
	"ParentTypeMissing": {"where the type of the parent is gone nobody knows what may be in it", parentTypeMissing},
	"NotForPrivileged":  {"what types demand binds those who skip authorization", notForPrivileged},
}

func clusterAsPath(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("parent", `{"extend":{"with":[{"name":"universal","path":"root"}]},"limitAllowedChildren":{"types":[{"name":"child","path":"`+w.path+`"}]}}`)
	w.newType("child", `{"limitAllowedParents":{"types":[{"name":"parent","path":"`+w.path+`"}]}}`)
	parent := w.workspace(w.cluster, "parent")
	if parent.Spec.Type.Path != w.cluster {
		t.Errorf("spec.type.path is %q, want %q", parent.Spec.Type.Path, w.cluster)
	}
	inParent := w.below(s, parent)
	if got, want := inParent.logicalCluster().Annotations["internal.tenancy.kcp.io/type"], w.cluster+":parent"; got != want {
		t.Errorf("the logical cluster says %q, want %q", got, want)
	}
	inParent.workspace(w.cluster, "child")
	_, err := inParent.tryWorkspace("root", "universal")
	refused(t, err, 403, w.path+":parent only allows children of the types ["+w.path+":child]", "root:universal implements [root:universal]")
}

func nearestType(t *testing.T, s *suite) {
	upper := s.universal(t)
	lower := upper.below(s, upper.workspace("root", "universal"))
	upper.newType("shared", `{}`)
	if ws := lower.begin("", "shared"); ws.Spec.Type.Path != upper.path {
		t.Errorf("spec.type.path is %q, want %q", ws.Spec.Type.Path, upper.path)
	}
	lower.newType("shared", `{}`)
	allowedAt := func() string { return lower.begin("", "shared").Spec.Type.Path }
	servertest.Eventually(t, "the nearer one counts", func() (bool, any) { path := allowedAt(); return path == lower.path, path })
	if ws := upper.begin("", "shared"); ws.Spec.Type.Path != upper.path {
		t.Errorf("types below are not looked for, got %q", ws.Spec.Type.Path)
	}
}

func useIsEnough(t *testing.T, s *suite) {
	place, home := s.universal(t), s.universal(t)
	place.newType("base", `{}`)
	place.newType("derived", `{"extend":{"with":[{"name":"base"}]}}`)
	home.admin(bob)
	mine := home.as(s, bobToken)
	_, err := mine.tryWorkspace(place.path, "derived")
	refused(t, err, 403, "unable to use workspacetype "+place.path+":base", `missing verb "use"`)
	place.allow(bob, use("base"))
	servertest.Eventually(t, "row 21: use of one alias is not use of all", func() (bool, any) {
		_, err := mine.tryWorkspace(place.path, "derived")
		return err != nil && strings.Contains(err.Error(), "unable to use workspacetype "+place.path+":derived"), err
	})
	place.allow(bob, use("derived"))
	allowed(t, "all can be used", func() error { _, err := mine.tryWorkspace(place.path, "derived"); return err })
	_, err = get[any](place.as(s, bobToken), types, "derived")
	refused(t, err, 403)
}

func useOfStrangers(t *testing.T, s *suite) {
	place, home := s.universal(t), s.universal(t)
	place.newType("guarded", `{}`)
	const robot = `{"kind":"ServiceAccount","namespace":"default","name":"robot"}`
	role := place.mustCreate(roles, `{"metadata":{"name":"user-of-guarded"},"rules":[`+use("guarded")+`]}`)
	place.bindRole(role.GetName(), robot)
	home.bindRole("cluster-admin", robot)

	kube, err := kubernetes.NewForConfig(home.config)
	if err != nil {
		t.Fatal(err)
	}
	accounts := kube.CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mine := home.as(s, token.Status.Token)
	allowed(t, "the account may create workspaces", func() error { _, err := mine.tryWorkspace("root", "universal"); return err })
	_, err = mine.tryWorkspace(place.path, "guarded")
	refused(t, err, 403, "unable to use workspacetype "+place.path+":guarded")
}

func noDefault(t *testing.T, s *suite) {
	w := s.universal(t)
	// Without a spec there is not even the default of the schema.
	w.mustCreate(types, `{"metadata":{"name":"bare"}}`)
	bare := w.below(s, w.workspace(w.path, "bare"))
	bare.mustCreate(bindings, `{"metadata":{"name":"tenancy"},"spec":{"reference":{"export":{"path":"root","name":"tenancy.kcp.io"}}}}`)
	bare.binds("tenancy.kcp.io", "it is bound", isBound)
	_, err := bare.tryWorkspace("", "")
	refused(t, err, 403, "spec.type must be set", w.path+":bare has no default for children")
	bare.workspace("root", "universal")
}

func defaultMissing(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("hopeful", `{"extend":{"with":[{"name":"universal"}]},"defaultChildWorkspaceType":{"name":"later","path":"`+w.path+`"}}`)
	hopeful := w.below(s, w.workspace(w.path, "hopeful"))
	_, err := hopeful.tryWorkspace("", "")
	refused(t, err, 403, "choosing the default type of children of "+w.path+":hopeful", `"later" not found`)
	w.newType("later", `{}`)
	allowed(t, "it has come", func() error { _, err := hopeful.tryWorkspace("", ""); return err })
}

func defaultRefused(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("torn", `{"extend":{"with":[{"name":"universal"}]},
		"defaultChildWorkspaceType":{"name":"universal","path":"root"},"limitAllowedChildren":{"types":[{"name":"torn","path":"`+w.path+`"}]}}`)
	torn := w.below(s, w.workspace(w.path, "torn"))
	_, err := torn.tryWorkspace("", "")
	refused(t, err, 403, w.path+":torn only allows children of the types ["+w.path+":torn]")
}

func defaultNotUsable(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("secret", `{}`)
	w.newType("generous", `{"extend":{"with":[{"name":"universal"}]},"defaultChildWorkspaceType":{"name":"secret","path":"`+w.path+`"}}`)
	generous := w.below(s, w.workspace(w.path, "generous"))
	generous.admin(bob)
	var err error
	servertest.Eventually(t, "bob may create workspaces", func() (bool, any) {
		_, err = generous.as(s, bobToken).tryWorkspace("", "")
		return err == nil || strings.Contains(err.Error(), "workspacetype"), err
	})
	refused(t, err, 403, "unable to use workspacetype "+w.path+":secret")
}

func parentTypeMissing(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("passing", `{"extend":{"with":[{"name":"universal"}]}}`)
	left := w.below(s, w.workspace(w.path, "passing"))
	w.delete(types, "passing")
	for _, typeName := range []string{"", "universal"} {
		_, err := left.tryWorkspace("", typeName)
		refused(t, err, 403, `workspace type "passing" not found in workspace "`+w.path+`"`)
	}
	w.newType("passing", `{"extend":{"with":[{"name":"universal"}]}}`)
	allowed(t, "it is known again", func() error { _, err := left.tryWorkspace("", ""); return err })
}

func notForPrivileged(t *testing.T, s *suite) {
	w := s.universal(t).as(s, "admin-token")
	w.newType("leaf", `{"extend":{"with":[{"name":"universal"}]},"limitAllowedChildren":{"none":true}}`)
	w.newType("ring", `{"extend":{"with":[{"name":"ring"}]}}`)
	leaf := w.below(s, w.workspace(w.path, "leaf"))
	_, err := leaf.tryWorkspace("root", "universal")
	refused(t, err, 403, w.path+":leaf allows no children")
	_, err = w.tryWorkspace(w.path, "ring")
	refused(t, err, 403, w.path+":ring -> "+w.path+":ring")
	for _, name := range []string{"home", "root"} {
		_, err = w.tryWorkspace("root", name)
		refused(t, err, 403, "root:"+name+" allows no parents")
	}
}
