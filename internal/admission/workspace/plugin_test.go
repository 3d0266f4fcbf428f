package workspace_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/workspace"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

type ws = tenancyv1alpha1.Workspace

const (
	ownerKey  = "experimental.tenancy.kcp.io/owner"
	groupsKey = "authorization.kcp.io/required-groups"
	aliceJSON = `{"username":"alice","uid":"1","groups":["system:authenticated"]}`
)

func of(change ...func(*ws)) *ws {
	w := &ws{}
	w.Name = "app"
	w.Kind, w.APIVersion = "Workspace", "tenancy.kcp.io/v1alpha1"
	w.Annotations = map[string]string{ownerKey: aliceJSON}
	for _, c := range change {
		c(w)
	}
	return w
}

func annotated(key, value string) func(*ws) { return func(w *ws) { w.Annotations[key] = value } }
func without(key string) func(*ws)          { return func(w *ws) { delete(w.Annotations, key) } }
func typed(name string) func(*ws) {
	return func(w *ws) { w.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Name: name, Path: "root"} }
}
func cluster(name string) func(*ws) { return func(w *ws) { w.Spec.Cluster = name } }
func url(url string) func(*ws)      { return func(w *ws) { w.Spec.URL = url } }
func phase(p corev1alpha1.Phase) func(*ws) {
	return func(w *ws) { w.Status.Phase = p }
}
func mount(kind, name, version string) func(*ws) {
	return func(w *ws) {
		w.Spec.Mount = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{Kind: kind, Name: name, APIVersion: version}}
	}
}

// request is an update if there is an old object, else a create.
func request(t *testing.T, w, old *ws, who user.Info) admissiontest.Request {
	t.Helper()
	r := admissiontest.Request{
		Resource:  tenancyv1alpha1.GroupVersion.WithResource("workspaces"),
		Kind:      "Workspace",
		Operation: admission.Create,
		Object:    admissiontest.Unstructured(t, w),
		Name:      "app",
		User:      who,
	}
	if old != nil {
		r.Operation, r.Old = admission.Update, admissiontest.Unstructured(t, old)
	}
	return r
}

func plugin(t *testing.T, groups string) *workspace.Plugin {
	t.Helper()
	tree := tenancytest.New(t)
	parent := tree.AddCluster("root:org", "root:organization")
	if groups != "" {
		parent.Annotations[groupsKey] = groups
	}
	return workspace.New(tree.Clusters())
}

func TestAdmit(t *testing.T) {
	cases := map[string]struct {
		reason       string
		parentGroups string
		user         user.Info
		ws, old      *ws
		owner        string
		groups       string
	}{
		"Creator": {
			reason: "the creator is written down, with all that is known of them",
			ws:     of(without(ownerKey)), owner: aliceJSON,
		},
		"Impostor": {
			reason: "whoever else is named is overwritten",
			ws:     of(annotated(ownerKey, `{"username":"admin","groups":["system:masters"]}`)), owner: aliceJSON,
		},
		"Initializer": {
			reason: "the mark of an initializer is nobody's to keep",
			user:   &user.DefaultInfo{Name: "controller", Groups: []string{"system:kcp:initializer:root:x", "crew"}},
			ws:     of(without(ownerKey)), owner: `{"username":"controller","groups":["crew"]}`,
		},
		"PrivilegedOwner": {
			reason: "privileged callers create for others", user: admissiontest.Masters(),
			ws: of(annotated(ownerKey, `{"username":"bob"}`)), owner: `{"username":"bob"}`,
		},
		"PrivilegedWithout": {
			reason: "or for nobody", user: admissiontest.Masters(), ws: of(without(ownerKey)),
		},
		"Groups": {
			reason: "required groups come from the parent", parentGroups: "a;b",
			ws: of(), owner: aliceJSON, groups: "a;b",
		},
		"OwnGroups": {
			reason: "and not from the caller", parentGroups: "a",
			ws: of(annotated(groupsKey, "mine")), owner: aliceJSON, groups: "a",
		},
		"NoGroups": {
			reason: "a parent without leaves none",
			ws:     of(annotated(groupsKey, "mine")), owner: aliceJSON,
		},
		"PrivilegedGroups": {
			reason: "privileged callers choose", parentGroups: "a", user: admissiontest.Masters(),
			ws: of(annotated(groupsKey, "b")), owner: aliceJSON, groups: "b",
		},
		"PrivilegedNoGroups": {
			reason: "and inherit if they do not", parentGroups: "a", user: admissiontest.Masters(),
			ws: of(), owner: aliceJSON, groups: "a",
		},
		"Update": {
			reason: "the identity of the creator cannot be swapped afterwards",
			ws:     of(annotated(ownerKey, `{"username":"admin"}`), annotated(groupsKey, "mine")), old: of(), owner: aliceJSON,
		},
		"UpdateRemoves": {
			reason: "nor taken away", ws: of(without(ownerKey)), old: of(annotated(groupsKey, "a")), owner: aliceJSON, groups: "a",
		},
		"PrivilegedUpdate": {
			reason: "except by the system", user: admissiontest.Masters(),
			ws: of(annotated(ownerKey, `{"username":"alice"}`)), old: of(), owner: `{"username":"alice"}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request(t, c.ws, c.old, c.user)
			ctx := admissiontest.In(t, tenancytest.ClusterAt("root:org"))
			p := plugin(t, c.parentGroups)
			admissiontest.Check(t, c.reason, p.Admit(ctx, r.Attributes(), nil), "")
			annotations := annotationsOf(t, r.Object)
			if annotations[ownerKey] != c.owner || annotations[groupsKey] != c.groups {
				t.Errorf("%s: got %v", c.reason, annotations)
			}
			admissiontest.Check(t, "what it sets it also accepts", p.Validate(ctx, r.Attributes(), nil), "")
		})
	}
}

func TestValidateCreate(t *testing.T) {
	cases := map[string]struct {
		reason string
		user   user.Info
		ws     *ws
		denied string
	}{
		"Plain":             {reason: "nothing but a name is needed", ws: of()},
		"Cluster":           {reason: "the system chooses the cluster", ws: of(cluster("x")), denied: "spec.cluster is set by the system"},
		"URL":               {reason: "and the address", ws: of(url("x")), denied: "spec.URL is set by the system"},
		"PrivilegedCluster": {reason: "the system may", ws: of(cluster("x"), url("x")), user: admissiontest.Masters()},
		"Owner":             {reason: "a webhook cannot change the owner", ws: of(annotated(ownerKey, `{"username":"admin"}`)), denied: ownerKey},
		"Groups":            {reason: "nor the groups", ws: of(annotated(groupsKey, "x")), denied: groupsKey},
		"UnreadableOwner":   {reason: "a workspace whose owner cannot be read would never get ready", ws: of(annotated(ownerKey, "x")), user: admissiontest.Masters(), denied: ownerKey},
		"Mount":             {reason: "a mount is complete", ws: of(mount("K", "n", "v1"))},
		"MountKind":         {reason: "kind", ws: of(mount("", "n", "v1")), denied: "spec.mount.ref.kind"},
		"MountName":         {reason: "name", ws: of(mount("K", "", "v1")), denied: "spec.mount.ref.name"},
		"MountVersion":      {reason: "version", ws: of(mount("K", "n", "")), user: admissiontest.Masters(), denied: "spec.mount.ref.apiVersion"},
		"MountType":         {reason: "a mounted workspace has no type", ws: of(mount("K", "n", "v1"), typed("team")), denied: "spec.type cannot be set together with spec.mount"},
		"PrivilegedMount":   {reason: "unless the system says so", ws: of(mount("K", "n", "v1"), typed("team")), user: admissiontest.Masters()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request(t, c.ws, nil, c.user)
			ctx := admissiontest.In(t, tenancytest.ClusterAt("root:org"))
			admissiontest.Check(t, c.reason, plugin(t, "").Validate(ctx, r.Attributes(), nil), c.denied)
		})
	}
}

func TestNoParent(t *testing.T) {
	r := request(t, of(), nil, admissiontest.Masters())
	ctx := admissiontest.In(t, tenancytest.ClusterAt("root:nowhere"))
	admissiontest.Check(t, "there must be a workspace to create it in", plugin(t, "").Admit(ctx, r.Attributes(), nil), "no logical cluster")
	admissiontest.Check(t, "there must be a workspace to create it in", plugin(t, "").Validate(ctx, r.Attributes(), nil), "no logical cluster")
}

func TestDyingParent(t *testing.T) {
	now := metav1.Now()
	tree := tenancytest.New(t)
	tree.AddCluster("root:dying", "root:universal").DeletionTimestamp = &now
	r := request(t, of(), nil, nil)
	ctx := admissiontest.In(t, tenancytest.ClusterAt("root:dying"))
	err := workspace.New(tree.Clusters()).Admit(ctx, r.Attributes(), nil)
	admissiontest.Check(t, "nothing new in a workspace that goes", err, "is being deleted")
}

func TestValidateUpdate(t *testing.T) {
	placed := []func(*ws){typed("team"), cluster("c"), url("u")}
	cases := map[string]struct {
		reason      string
		user        user.Info
		subresource string
		old, ws     *ws
		denied      string
	}{
		"Nothing":        {reason: "what does not change is fine", old: of(placed...), ws: of(placed...)},
		"Type":           {reason: "types never change", old: of(typed("team")), ws: of(typed("universal")), denied: "spec.type is immutable"},
		"TypeUnset":      {reason: "nor go", old: of(typed("team")), ws: of(), denied: "spec.type is immutable"},
		"TypePrivileged": {reason: "for nobody", user: admissiontest.Masters(), old: of(typed("team")), ws: of(), denied: "spec.type is immutable"},
		"ClusterChanged": {reason: "clusters never change", user: admissiontest.Masters(), old: of(cluster("c")), ws: of(cluster("d")), denied: "spec.cluster is immutable"},
		"ClusterSet":     {reason: "the system sets it", old: of(), ws: of(cluster("c")), denied: "spec.cluster is set by the system"},
		"ClusterBySystem": {
			reason: "and may", user: admissiontest.Masters(), old: of(), ws: of(cluster("c")),
		},
		"URLChanged":  {reason: "only the system changes addresses", old: of(url("u")), ws: of(url("v")), denied: "spec.URL is set by the system"},
		"URLSet":      {reason: "or sets them", old: of(), ws: of(url("v")), denied: "spec.URL is set by the system"},
		"URLUnset":    {reason: "nobody removes them", user: admissiontest.Masters(), old: of(url("u")), ws: of(), denied: "spec.URL cannot be unset"},
		"URLBySystem": {reason: "shards move", user: admissiontest.Masters(), old: of(url("u")), ws: of(url("v"))},
		"Owner":       {reason: "a webhook cannot change the owner either", old: of(), ws: of(annotated(ownerKey, "{}")), denied: ownerKey},
		"Ready": {
			reason: "Ready needs a place", subresource: "status", user: admissiontest.User("system:kcp:admin"),
			old: of(), ws: of(phase("Ready")), denied: "status.phase cannot be Ready while spec.cluster is not set",
		},
		"ReadyWithoutURL": {
			reason: "with an address", subresource: "status", user: admissiontest.Masters(),
			old: of(cluster("c")), ws: of(cluster("c"), phase("Ready")), denied: "status.phase cannot be Ready while spec.URL is not set",
		},
		"ReadyPlaced": {reason: "then it is fine", subresource: "status", old: of(placed...), ws: of(append(placed, phase("Ready"))...)},
		"ReadyMount": {
			reason: "a mounted workspace has no cluster", subresource: "status",
			old: of(mount("K", "n", "v1")), ws: of(mount("K", "n", "v1"), phase("Ready")),
		},
		"MountChanged": {reason: "mounts never change", user: admissiontest.Masters(), old: of(mount("K", "n", "v1")), ws: of(mount("K", "o", "v1")), denied: "spec.mount is immutable"},
		"MountAdded":   {reason: "nor come later", old: of(placed...), ws: of(append(placed, mount("K", "n", "v1"))...), denied: "spec.mount is immutable"},
		"MountTyped":   {reason: "and get no type", old: of(mount("K", "n", "v1")), ws: of(mount("K", "n", "v1"), typed("team")), denied: "spec.type cannot be set"},
		"MountURL":     {reason: "the address follows what is mounted", old: of(mount("K", "n", "v1")), ws: of(mount("K", "n", "v1"), url("u"))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request(t, c.ws, c.old, c.user)
			r.Subresource = c.subresource
			ctx := admissiontest.In(t, tenancytest.ClusterAt("root:org"))
			admissiontest.Check(t, c.reason, plugin(t, "").Validate(ctx, r.Attributes(), nil), c.denied)
		})
	}
}

func annotationsOf(t *testing.T, obj runtime.Object) map[string]string {
	t.Helper()
	return obj.(interface{ GetAnnotations() map[string]string }).GetAnnotations()
}
