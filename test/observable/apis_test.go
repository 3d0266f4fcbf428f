package observable

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// definition is a CustomResourceDefinition in the group example.dev.
func definition(kind, plural, scope, spec string) string {
	return fmt.Sprintf(`
kind: CustomResourceDefinition
metadata: {name: %s.example.dev}
spec:
  group: example.dev
  scope: %s
  names: {plural: %s, singular: %s, kind: %s, listKind: %sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {%s}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, plural, scope, plural, strings.ToLower(kind), kind, kind, spec)
}

const (
	all       = "create delete deletecollection get list patch update watch"
	subStatus = "get patch update"
)

// builtin are the built-in resources and their verbs, as they are served everywhere.
var builtin = map[string]map[string]string{
	"v1": {
		"configmaps": all, "events": all, "namespaces": "create delete get list patch update watch", "namespaces/status": subStatus, "namespaces/finalize": "update",
		"resourcequotas": all, "resourcequotas/status": subStatus, "secrets": all, "serviceaccounts": all,
	},
	"admissionregistration.k8s.io/v1": {
		"mutatingwebhookconfigurations": all, "validatingwebhookconfigurations": all, "validatingadmissionpolicies": all, "validatingadmissionpolicies/status": subStatus,
		"validatingadmissionpolicybindings": all, "mutatingadmissionpolicies": all, "mutatingadmissionpolicybindings": all,
	},
	"apiextensions.k8s.io/v1":      {"customresourcedefinitions": all, "customresourcedefinitions/status": subStatus},
	"authentication.k8s.io/v1":     {"tokenreviews": "create", "selfsubjectreviews": "create"},
	"authorization.k8s.io/v1":      {"subjectaccessreviews": "create", "selfsubjectaccessreviews": "create", "selfsubjectrulesreviews": "create", "localsubjectaccessreviews": "create"},
	"certificates.k8s.io/v1":       {"certificatesigningrequests": all, "certificatesigningrequests/status": subStatus, "certificatesigningrequests/approval": subStatus},
	"coordination.k8s.io/v1":       {"leases": all},
	"events.k8s.io/v1":             {"events": all},
	"rbac.authorization.k8s.io/v1": {"clusterroles": all, "clusterrolebindings": all, "roles": all, "rolebindings": all},
}

// builtinResources: exactly those, with exactly these verbs.
func (s *suite) builtinResources(t *testing.T) {
	in := s.in(t, admin, s.organization(t))
	_, lists, err := in.kube.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, list := range lists {
		served[list.GroupVersion] = true
		if strings.HasSuffix(list.GroupVersion, "kcp.io/v1alpha1") || strings.HasPrefix(list.GroupVersion, "apis.kcp.io/") {
			continue
		}
		want, ok := builtin[list.GroupVersion]
		if !ok {
			t.Errorf("%s is served", list.GroupVersion)
			continue
		}
		got := map[string]string{}
		for _, resource := range list.APIResources {
			verbs := slices.Clone([]string(resource.Verbs))
			slices.Sort(verbs)
			got[resource.Name] = strings.Join(verbs, " ")
		}
		for name, verbs := range want {
			equal(t, "verbs of "+name+" in "+list.GroupVersion, verbs, got[name])
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s in %s is served", name, list.GroupVersion)
			}
		}
	}
	for groupVersion := range builtin {
		if !served[groupVersion] {
			t.Errorf("%s is not served", groupVersion)
		}
	}
}

// openAPIPaths: which documents there are.
func (s *suite) openAPIPaths(t *testing.T) {
	in := s.in(t, admin, s.organization(t))
	document, err := in.raw(t, "/openapi/v3")
	if err != nil {
		t.Fatal(err)
	}
	index := struct{ Paths map[string]any }{}
	if err := json.Unmarshal([]byte(document), &index); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"api/v1", "apis/tenancy.kcp.io/v1alpha1", "apis/core.kcp.io/v1alpha1", "apis/topology.kcp.io/v1alpha1", "apis/rbac.authorization.k8s.io/v1"} {
		if _, ok := index.Paths[path]; !ok {
			t.Errorf("there is no OpenAPI document for %s", path)
		}
	}
}

// twoSchemas: definitions of one name differ between workspaces, and so do all documents.
func (s *suite) twoSchemas(t *testing.T) {
	org := s.organization(t)
	red, blue := s.in(t, admin, s.child(t, org, "red")), s.in(t, admin, s.child(t, org, "blue"))
	none := s.in(t, admin, s.child(t, org, "none"))
	red.must(t, red.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	blue.must(t, blue.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: string}")))
	made := red.eventuallyCreated(t, "{kind: Widget, metadata: {name: w}, spec: {size: 3}}")
	equal(t, "size", "3", text(made.Unstructured, "spec", "size"))
	blue.eventuallyCreated(t, "{kind: Widget, metadata: {name: w}, spec: {size: large}}")
	red.refused(t, "another type", red.create(t, "{kind: Widget, metadata: {name: x}, spec: {size: large}}"), metav1.StatusReasonInvalid, "spec.size")
	blue.refused(t, "another type", blue.create(t, "{kind: Widget, metadata: {name: x}, spec: {size: 3}}"), metav1.StatusReasonInvalid, "spec.size")

	const document = "/openapi/v3/apis/example.dev/v1"
	for in, want := range map[*tenant]string{red: `"size":{"type":"integer"}`, blue: `"size":{"type":"string"}`} {
		servertest.Eventually(t, "OpenAPI has the schema of the workspace", func() (bool, any) {
			got, err := in.raw(t, document)
			return err == nil && strings.Contains(got, want), err
		})
	}
	if _, err := none.raw(t, document); err == nil {
		t.Error("there is no document in a workspace without the definition")
	}
	for _, path := range []string{"/apis", "/openapi/v2", "/openapi/v3"} {
		if got, err := none.raw(t, path); err != nil || strings.Contains(got, "example.dev") {
			t.Errorf("%s of a workspace without the definition: %v %.200s", path, err, got)
		}
	}
	red.must(t, red.delete(t, "CustomResourceDefinition", "widgets.example.dev"))
	red.gone(t, "CustomResourceDefinition", "widgets.example.dev")
	equal(t, "objects of the other", "w", text(blue.must(t, blue.list(t, "Widget")), "names"))
	red.must(t, red.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	servertest.Eventually(t, "a new definition has no old objects", func() (bool, any) {
		r := red.list(t, "Widget")
		return r.err == nil && text(r.Unstructured, "names") == "", r
	})
}

// resourceClusters: a resource may be named as the prefix of URLs is.
func (s *suite) resourceClusters(t *testing.T) {
	org := s.organization(t)
	in := s.in(t, admin, org)
	in.must(t, in.create(t, definition("Cluster", "clusters", "Cluster", "a: {type: string}")))
	in.eventuallyCreated(t, "{kind: Cluster, metadata: {name: one}}")
	in.must(t, in.patch(t, "Cluster", "one", "{status: {is: fine}}", "status"))
	equal(t, "status", "fine", text(in.must(t, in.get(t, "Cluster", "one")), "status", "is"))
	status, err := in.raw(t, "/apis/example.dev/v1/clusters/one/status")
	if err != nil || !strings.Contains(status, "fine") {
		t.Errorf("its status: %v %s", err, status)
	}
}

// chunks: a list comes in as many parts as one likes.
func (s *suite) chunks(t *testing.T) {
	in := s.in(t, admin, s.organization(t))
	in.must(t, in.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	in.eventuallyCreated(t, "{kind: Widget, metadata: {name: w0}}")
	in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: w0}}"))
	for i := 1; i < 5; i++ {
		in.must(t, in.create(t, fmt.Sprintf("{kind: Widget, metadata: {name: w%d}}", i)))
		in.must(t, in.create(t, fmt.Sprintf("{kind: ConfigMap, metadata: {name: w%d}}", i)))
	}
	for _, kind := range []string{"Widget", "ConfigMap"} {
		var names []string
		options := metav1.ListOptions{Limit: 2}
		for {
			page, err := in.of(t, kind).List(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.Fields(namesOf(page))...)
			if len(page.Items) > 2 {
				t.Errorf("%s: a page of two has %d", kind, len(page.Items))
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				break
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "w") })
		equal(t, kind, "w0 w1 w2 w3 w4", strings.Join(names, " "))
	}
}

// watchLists: a watch that begins with what is there says when it is through.
func (s *suite) watchLists(t *testing.T) {
	in := s.in(t, admin, s.organization(t))
	in.must(t, in.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	in.eventuallyCreated(t, "{kind: Widget, metadata: {name: one}}")
	in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: one}}"))
	for _, kind := range []string{"Widget", "ConfigMap"} {
		watcher, err := in.of(t, kind).Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for event := range watcher.ResultChan() {
			obj, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("%s: event %s with a %T: %v", kind, event.Type, event.Object, event.Object)
			}
			if event.Type == watch.Bookmark && obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				break
			}
			seen = append(seen, string(event.Type)+" "+obj.GetName())
		}
		watcher.Stop()
		if !slices.Contains(seen, "ADDED one") {
			t.Errorf("%s: before the bookmark came %v", kind, seen)
		}
	}
}
