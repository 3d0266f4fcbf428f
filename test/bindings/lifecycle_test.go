package bindings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestBindings(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	for name, test := range map[string]func(*testing.T, *servertest.Server){
		"Bound":                       bound,
		"FollowTheirExport":           followTheirExport,
		"KeepWhatIsNotOfferedAnyMore": keepWhatIsNotOfferedAnyMore,
		"MirrorAnnotations":           mirrorAnnotations,
		"OutliveTheirExport":          outliveTheirExport,
		"WaitForSchemas":              waitForSchemas,
		"WaitForExports":              waitForExports,
		"WaitForIdentities":           waitForIdentities,
		"OfBrokenSchemas":             ofBrokenSchemas,
		"OfTheOwnWorkspace":           ofTheOwnWorkspace,
		"OfNothing":                   ofNothing,
		"OfLargeExports":              ofLargeExports,
		"OfGatewayAPI":                ofGatewayAPI,
		"Twice":                       twice,
		"AgainstADefinition":          againstADefinition,
		"BeforeADefinition":           beforeADefinition,
		"OfTheSameKind":               ofTheSameKind,
		"OfBuiltInGroups":             ofBuiltInGroups,
		"TakeTurns":                   takeTurns,
		"Deleted":                     deleted,
		"HeldByFinalizers":            heldByFinalizers,
		"Inherited":                   inherited,
		"InADyingWorkspace":           inADyingWorkspace,
		"InADyingNamespace":           inADyingNamespace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server)
		})
	}
}

func bound(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	b := c.bind("cowboys", p, "cowboys")
	in := logicalcluster.MustParseName(p.cluster)
	for what, ok := range map[string]bool{
		"Ready":                       conditions.IsTrue(b, conditions.Ready),
		"APIExportValid":              conditions.IsTrue(b, apisv1alpha1.APIExportValid),
		"BindingUpToDate":             conditions.IsTrue(b, apisv1alpha1.BindingUpToDate),
		"finalizer":                   slices.Contains(b.Finalizers, apisv1alpha1.APIBindingFinalizer),
		"label of the export":         b.Labels[apisv1alpha1.InternalAPIBindingExportLabelKey] == apihash.Export(in, "cowboys"),
		"reflexive claim":             b.Labels[apihash.ClaimLabelKey(in, "cowboys")] == apihash.Reflexive,
		"cluster of the export":       b.Status.APIExportClusterName == p.cluster,
		"Ready is the first":          b.Status.Conditions[0].Type == conditions.Ready,
		"annotation of the workspace": b.Annotations[logicalcluster.PathAnnotationKey] == c.path,
	} {
		if !ok {
			t.Errorf("%s is missing in %+v", what, b)
		}
	}
	u, err := c.client.Resource(bindings).Get(t.Context(), "cowboys", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	export := p.identity("cowboys")
	all := u.Object["status"].(map[string]any)["boundResources"].([]any)
	want := []any{map[string]any{
		"group": group, "resource": "cowboys", "storageVersions": []any{"v1"},
		"schema": map[string]any{"name": "today.cowboys." + group, "UID": p.uid(schemas, "today.cowboys."+group), "identityHash": export},
	}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("what is bound (-want +got):\n%s", diff)
	}
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"cowboys"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	c.put(cowboys, "billy")
	served(t, c, "cowboys", "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
	served(t, p, "cowboys")
	if n := c.count(definitions); n != 0 {
		t.Errorf("%d definitions are listed where there are none", n)
	}
}

// served checks which verbs discovery says a resource of the group has, and that there is
// OpenAPI of it just then.
func served(t *testing.T, w workspace, resource string, verbs ...string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(w.config)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	list, err := client.ServerResourcesForGroupVersion(cowboys.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if err == nil {
		for _, r := range list.APIResources {
			if r.Name == resource {
				got = slices.Sorted(slices.Values(r.Verbs))
			}
		}
	}
	if diff := cmp.Diff(verbs, got); diff != "" {
		t.Errorf("verbs of %s in %s (-want +got):\n%s", resource, w.path, diff)
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := paths["apis/"+group+"/v1"]; ok != (len(verbs) > 0) {
		t.Errorf("OpenAPI of the group in %s: %v", w.path, ok)
	}
}

func (w workspace) identity(export string) string {
	w.Helper()
	u, err := w.client.Resource(exports).Get(w.Context(), export, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return into[*apisv1alpha2.APIExport](w, u).Status.IdentityHash
}

func followTheirExport(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "billy")
	p.schemaFor("tomorrow", "cowboys", []string{"hat", "boots"})
	p.schemaFor("today", "horses", []string{"color"})
	p.patch(exports, "", "cowboys", `{"spec":{"resources":[
		{"group":"wildwest.dev","name":"cowboys","schema":"tomorrow.cowboys.wildwest.dev","storage":{"crd":{}}},
		{"group":"wildwest.dev","name":"horses","schema":"today.horses.wildwest.dev","storage":{"crd":{}}}],
		"permissionClaims":[{"resource":"configmaps","verbs":["get"]}]}}`)
	b := c.binding("cowboys", "it has the new schemas", func(b *apisv1alpha2.APIBinding) bool {
		return len(b.Status.BoundResources) == 2 && b.Status.BoundResources[0].Schema.Name == "tomorrow.cowboys."+group
	})
	if uid := p.uid(schemas, "tomorrow.cowboys."+group); b.Status.BoundResources[0].Schema.UID != uid {
		t.Errorf("the UID is %s, want %s", b.Status.BoundResources[0].Schema.UID, uid)
	}
	if claims := b.Status.ExportPermissionClaims; len(claims) != 1 || claims[0].Resource != "configmaps" || len(b.Status.AppliedPermissionClaims) > 0 {
		t.Errorf("claims of the export are shown, not accepted: %+v", b.Status)
	}
	c.patch(cowboys, "default", "billy", `{"spec":{"boots":"brown"}}`)
	billy, err := c.resource(cowboys, "default").Get(t.Context(), "billy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec := billy.Object["spec"].(map[string]any); spec["boots"] != "brown" || spec["hat"] != "black" {
		t.Errorf("the new field can be used, the old one is there: %v", spec)
	}
	c.put(horses, "jolly")
}

func (w workspace) uid(r gvr, name string) string {
	w.Helper()
	u, err := w.client.Resource(r).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return string(u.GetUID())
}

func keepWhatIsNotOfferedAnyMore(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	p.schemaFor("today", "horses", nil)
	p.export("both", "today.cowboys."+group, "today.horses."+group)
	c.bind("both", p, "both")
	p.patch(exports, "", "both", `{"metadata":{"annotations":{"extra.apis.kcp.io/seen":"yes"}},
		"spec":{"resources":[{"group":"wildwest.dev","name":"horses","schema":"today.horses.wildwest.dev","storage":{"crd":{}}}]}}`)
	b := c.binding("both", "it has seen the change", func(b *apisv1alpha2.APIBinding) bool {
		return b.Annotations["extra.apis.kcp.io/seen"] == "yes"
	})
	if diff := cmp.Diff([]string{"cowboys", "horses"}, resources(b)); diff != "" {
		t.Errorf("what is bound stays (-want +got):\n%s", diff)
	}
	c.put(cowboys, "billy")
	if got := c.locks(); !strings.Contains(got, `"cowboys.wildwest.dev":{"n":"both"}`) {
		t.Errorf("locks are %s", got)
	}
}

func mirrorAnnotations(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	p.patch(exports, "", "cowboys", `{"metadata":{"annotations":{"extra.apis.kcp.io/a":"b","other":"x"}}}`)
	c.bind("cowboys", p, "cowboys")
	annotation := func(value string) {
		t.Helper()
		c.binding("cowboys", "the annotation is "+value, func(b *apisv1alpha2.APIBinding) bool {
			return b.Annotations["extra.apis.kcp.io/a"] == value && b.Annotations["other"] == ""
		})
	}
	annotation("b")
	p.patch(exports, "", "cowboys", `{"metadata":{"annotations":{"extra.apis.kcp.io/a":"c"}}}`)
	annotation("c")
	p.patch(exports, "", "cowboys", `{"metadata":{"annotations":{"extra.apis.kcp.io/a":null}}}`)
	annotation("")
	p.patch(exports, "", "cowboys", `{"metadata":{"annotations":{"extra.apis.kcp.io/a":"d"}}}`)
	annotation("d")
	p.delete(exports, "", "cowboys")
	annotation("")
}

func outliveTheirExport(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "billy")
	p.delete(exports, "", "cowboys")
	p.delete(schemas, "", "today.cowboys."+group)
	message := c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound)
	if want := "APIExport " + p.path + "|cowboys not found"; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	c.bound("cowboys")
	c.put(cowboys, "jane")
	c.patch(cowboys, "default", "billy", `{"spec":{"hat":"white"}}`)

	// It comes back with the same secret, so with the same identity.
	p.schemaFor("today", "cowboys", []string{"hat", "boots"})
	p.export("cowboys", "today.cowboys."+group)
	c.binding("cowboys", "the export is valid again", func(b *apisv1alpha2.APIBinding) bool {
		return conditions.IsTrue(b, apisv1alpha1.APIExportValid) && b.Status.BoundResources[0].Schema.UID == p.uid(schemas, "today.cowboys."+group)
	})
	if n := c.count(cowboys); n != 2 {
		t.Errorf("%d objects, want the 2 there were", n)
	}
	p.delete(exports, "", "cowboys")
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound)
	c.delete(bindings, "", "cowboys")
	c.gone(bindings, "", "cowboys")
}

func waitForSchemas(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	p.export("cowboys", "today.cowboys."+group)
	c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	message := c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonInternalError)
	if want := `Invalid APIExport. Please contact the APIExport owner to resolve: APIResourceSchema "today.cowboys.wildwest.dev" not found`; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	c.says("cowboys", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonWaitingForEstablished)
	if got := c.says("cowboys", conditions.Ready, apisv1alpha1.ReasonWaitingForEstablished); got != "Waiting for API(s) to be established" {
		t.Errorf("Ready says %q", got)
	}
	p.schemaFor("today", "cowboys", nil)
	c.bound("cowboys")
}

func waitForExports(t *testing.T, server *servertest.Server) {
	c := newWorkspace(t, server)
	c.create(bindings, "APIBinding", newBinding("cowboys", "", "cowboys"))
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound)
	c.schemaFor("today", "cowboys", nil)
	c.export("cowboys", "today.cowboys."+group)
	c.bound("cowboys")
}

func waitForIdentities(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	p.schemaFor("today", "cowboys", nil)
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: "cowboys"}}
	export.Spec.Resources = []apisv1alpha2.ResourceSchema{offer("today.cowboys." + group)}
	export.Spec.Identity = &apisv1alpha2.Identity{SecretRef: secretRef("default", "later")}
	p.create(exports, "APIExport", export)
	c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonMissingIdentityHash)
	p.secret("default", "later", "key of cowboys")
	c.bound("cowboys")
}

func ofBrokenSchemas(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	p.patch(exports, "", "cowboys", `{"spec":{"resources":[{"group":"wildwest.dev","name":"cowboys","schema":"broken.cowboys.wildwest.dev","storage":{"crd":{}}}]}}`)
	c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonInternalError)
	p.patch(exports, "", "cowboys", `{"spec":{"resources":[{"group":"wildwest.dev","name":"cowboys","schema":"today.cowboys.wildwest.dev","storage":{"crd":{}}}]}}`)
	c.bound("cowboys")
	// What has been bound is served as before while the export is broken.
	p.patch(exports, "", "cowboys", `{"spec":{"resources":[{"group":"wildwest.dev","name":"cowboys","schema":"broken.cowboys.wildwest.dev","storage":{"crd":{}}}]}}`)
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonInternalError)
	c.put(cowboys, "billy")
	c.bound("cowboys")
}

func ofTheOwnWorkspace(t *testing.T, server *servertest.Server) {
	p := provider(t, server)
	served(t, p, "cowboys")
	p.create(bindings, "APIBinding", newBinding("by-path", p.path, "cowboys"))
	p.bound("by-path")
	p.create(bindings, "APIBinding", newBinding("local", "", "cowboys"))
	message := p.says("local", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	if want := `Unable to bind APIs because they are bound by other APIBindings or CRDs: cowboys.wildwest.dev by APIBinding "by-path" bound to APIExport ` + p.path + `:cowboys`; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	p.put(cowboys, "billy")
}

func ofNothing(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	p.export("nothing")
	if b := c.bind("nothing", p, "nothing"); len(b.Status.BoundResources) > 0 {
		t.Errorf("got %+v", b.Status)
	}
	c.create(bindings, "APIBinding", newBinding("by-cluster", p.cluster, "nothing"))
	c.bound("by-cluster")
}

// ofLargeExports: what an export offers may be more, and bigger, than one transaction of
// etcd can hold.
func ofLargeExports(t *testing.T, server *servertest.Server) {
	p, w := newWorkspace(t, server), newWorkspace(t, server)
	for export, size := range map[string]struct{ schemas, bytes int }{"many": {150, 1}, "big": {6, 400 << 10}} {
		var names []string
		for i := range size.schemas {
			names = append(names, p.schemaFor("today", fmt.Sprintf("%s%ds", export, i), nil, func(s *apisv1alpha1.APIResourceSchema) {
				s.Spec.Versions[0].Schema.Raw = []byte(`{"type":"object","description":"` + strings.Repeat("x", size.bytes) + `"}`)
			}).GetName())
		}
		p.export(export, names...)
		w.bind(export, p, export)
		if got := len(w.bound(export).Status.BoundResources); got != size.schemas {
			t.Errorf("%s: %d resources are bound, want %d", export, got, size.schemas)
		}
		w.delete(bindings, "", export)
		w.gone(bindings, "", export)
	}
}

func ofGatewayAPI(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	const gatewayGroup = "gateway.networking.k8s.io"
	p.schemaFor("today", "gateways", nil, func(s *apisv1alpha1.APIResourceSchema) {
		s.Name, s.Spec.Group = "today.gateways."+gatewayGroup, gatewayGroup
		s.Annotations = map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/2466"}
	})
	p.export("gateways", "today.gateways."+gatewayGroup)
	c.bind("gateways", p, "gateways")
	gateways := gvr{Group: gatewayGroup, Version: "v1", Resource: "gateways"}
	c.put(gateways, "front")
}
