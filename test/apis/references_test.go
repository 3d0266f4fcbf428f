package apis

import (
	"net/http"
	"strings"
	"testing"
)

var referenceBehaviors = map[string]behavior{
	"Forbidden":  referencesForbidden,
	"Allowed":    referencesAllowed,
	"OwnWaits":   referencesOwn,
	"RootWaits":  referencesRoot,
	"NotAgain":   referencesNotAgain,
	"OtherPlace": referencesOtherPlace,
}

// referencesForbidden: an export that may not be bound, one that does not exist and a
// workspace that does not exist are the same.
func referencesForbidden(t *testing.T, s suite) {
	provider, consumer := s.workspace(t, bobName), s.workspace(t, aliceName)
	as(t, s.server, bob, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	for name, c := range map[string]caller{"admin": as(t, s.server, alice, consumer.path)} {
		for reason, path := range map[string]string{
			"no permission":        provider.path,
			"by cluster":           provider.cluster,
			"no such workspace":    "root:nowhere",
			"no such cluster":      "nowhere",
			"below what is nobody": provider.path + ":nowhere",
		} {
			for _, version := range []string{"v1alpha1", "v1alpha2"} {
				a := c.must(http.StatusForbidden, "POST", "/apis/apis.kcp.io/"+version+"/apibindings", bindingIn(version, "a", path, "widgets"))
				want := `apibindings.apis.kcp.io "a" is forbidden: unable to create APIBinding: no permission to bind to export ` + path + `:widgets`
				if got := a.object.Object["message"]; got != want {
					t.Errorf("%s, %s: got %q, want %q", name, reason, got, want)
				}
			}
		}
		missing := c.must(http.StatusForbidden, "POST", v2+"/apibindings", binding("a", provider.path, "gadgets"))
		if got := missing.object.Object["message"]; got != `apibindings.apis.kcp.io "a" is forbidden: unable to create APIBinding: no permission to bind to export `+provider.path+`:gadgets` {
			t.Errorf("%s, no such export: got %q", name, got)
		}
	}
	// Not even to those who may do anything is there an export that is not.
	as(t, s.server, master, consumer.path).must(http.StatusForbidden, "POST", v2+"/apibindings", binding("a", "root:nowhere", "widgets"))
}

func referencesAllowed(t *testing.T, s suite) {
	provider, consumer := s.workspace(t, bobName), s.workspace(t, aliceName)
	as(t, s.server, bob, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	s.mayBind(t, provider, aliceName, "widgets")
	s.mayBind(t, provider, aliceName, "gadgets")
	c := as(t, s.server, alice, consumer.path)
	c.eventually(http.StatusCreated, "POST", v2+"/apibindings", binding("by-path", provider.path, "widgets"))
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("by-cluster", provider.cluster, "widgets"))
	c.must(http.StatusCreated, "POST", v1+"/apibindings", bindingIn("v1alpha1", "old", provider.path, "widgets"))
	// The permission to bind what does not exist does not tell that it does not.
	c.must(http.StatusForbidden, "POST", v2+"/apibindings", binding("a", provider.path, "gadgets"), "no permission to bind to export "+provider.path+":gadgets")
	// Who has just made an export may have it bound at once.
	b := as(t, s.server, bob, provider.path)
	for _, name := range []string{"one", "two", "three"} {
		b.must(http.StatusCreated, "POST", v2+"/apiexports", export(name, `{}`))
		b.must(http.StatusCreated, "POST", v2+"/apibindings", binding(name, provider.path, name))
	}
	// Somebody else may not.
	as(t, s.server, bob, consumer.path).must(http.StatusForbidden, "POST", v2+"/apibindings", binding("b", provider.path, "widgets"))
}

func referencesOwn(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	c := as(t, s.server, alice, p.path)
	created := c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "later"))
	if created.object.GetLabels()["internal.apis.kcp.io/export"] == "" {
		t.Error("it is known which export it will be")
	}
	// By a path it has to be there already.
	c.must(http.StatusForbidden, "POST", v2+"/apibindings", binding("b", p.path, "later"))
	// Who may not bind in his own workspace is told in the same words, without a path.
	as(t, s.server, master, p.path).must(http.StatusCreated, "POST", rbac+"/clusterroles",
		`{metadata: {name: access}, rules: [{nonResourceURLs: ["/"], verbs: [access]}, {apiGroups: [apis.kcp.io], resources: [apibindings], verbs: ["*"]}]}`)
	as(t, s.server, master, p.path).must(http.StatusCreated, "POST", rbac+"/clusterrolebindings",
		`{metadata: {name: access}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: access}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: user-2}]}`)
	b := as(t, s.server, bob, p.path)
	b.eventually(http.StatusOK, "GET", v2+"/apibindings", "")
	a := b.must(http.StatusForbidden, "POST", v2+"/apibindings", binding("c", "", "later"))
	if got := a.object.Object["message"]; got != `apibindings.apis.kcp.io "c" is forbidden: unable to create APIBinding: no permission to bind to export later` {
		t.Errorf("got %q", got)
	}
}

func referencesRoot(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	as(t, s.server, alice, p.path).must(http.StatusForbidden, "POST", v2+"/apibindings", binding("a", "root", "nothing-of-that-name"), "no permission to bind to export root:nothing-of-that-name")
	as(t, s.server, master, p.path).must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "root", "nothing-of-that-name"))
}

// referencesNotAgain: who has bound keeps what is bound, and may change his answers, with
// or without the permission to bind.
func referencesNotAgain(t *testing.T, s suite) {
	provider, consumer := s.workspace(t, bobName), s.workspace(t, aliceName)
	b := as(t, s.server, bob, provider.path)
	b.must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	s.mayBind(t, provider, aliceName, "widgets")
	c := as(t, s.server, alice, consumer.path)
	c.eventually(http.StatusCreated, "POST", v2+"/apibindings", binding("a", provider.path, "widgets"))
	b.must(http.StatusOK, "DELETE", rbac+"/clusterrolebindings/bind-widgets-"+aliceName, "")
	mayNotBind(t, c, provider.path)
	for _, version := range []string{v1, v2} {
		c.must(http.StatusOK, "PATCH", version+"/apibindings/a", `{metadata: {labels: {by: `+strings.TrimPrefix(version, "/apis/apis.kcp.io/")+`}}}`)
	}
	// Not even when the export is gone.
	label := c.must(http.StatusOK, "GET", v2+"/apibindings/a", "").object.GetLabels()["internal.apis.kcp.io/export"]
	b.must(http.StatusOK, "DELETE", v2+"/apiexports/widgets", "")
	b.eventually(http.StatusNotFound, "GET", v2+"/apiexports/widgets", "")
	after := c.must(http.StatusOK, "PATCH", v2+"/apibindings/a", `{metadata: {labels: {by: nobody, internal.apis.kcp.io/export: forged}}}`)
	if got := after.object.GetLabels()["internal.apis.kcp.io/export"]; got != label {
		t.Errorf("label %s, was %s", got, label)
	}
}

// mayNotBind waits until the caller may not bind any more.
func mayNotBind(t *testing.T, c caller, path string) {
	t.Helper()
	c.t = t
	c.eventually(http.StatusForbidden, "POST", v2+"/apibindings?dryRun=All", binding("probe", path, "widgets"))
}

// referencesOtherPlace: a workspace that is deleted and made again under its name is
// another one, and permission is asked for again.
func referencesOtherPlace(t *testing.T, s suite) {
	parent, consumer := s.workspace(t), s.workspace(t, aliceName)
	m := as(t, s.server, master, parent.path)
	first := s.server.Workspace(t, parent.path, "provider")
	provider := place{path: parent.path + ":provider", cluster: first.Spec.Cluster}
	as(t, s.server, master, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	s.mayBind(t, provider, aliceName, "widgets")
	c := as(t, s.server, alice, consumer.path)
	c.eventually(http.StatusCreated, "POST", v2+"/apibindings", binding("a", provider.path, "widgets"))

	const workspaces = "/apis/tenancy.kcp.io/v1alpha1/workspaces/provider"
	m.must(http.StatusOK, "DELETE", workspaces, "")
	m.eventually(http.StatusNotFound, "GET", workspaces, "")
	s.server.Workspace(t, parent.path, "provider")
	as(t, s.server, master, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	c.must(http.StatusForbidden, "PATCH", v2+"/apibindings/a", `{metadata: {labels: {a: b}}}`,
		"unable to update APIBinding: no permission to bind to export "+provider.path+":widgets")
}
