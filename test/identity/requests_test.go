package identity

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

var (
	cowboys = servertest.Cowboys
	crds    = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// identified returns a resource with an identity beside its name.
func identified(r schema.GroupVersionResource, identity string) schema.GroupVersionResource {
	r.Resource += ":" + identity
	return r
}

// newCowboyProvider makes a workspace that exports cowboys, with the identity of key, and
// returns it with that identity.
func newCowboyProvider(t testing.TB, server *servertest.Server, key string) (workspace, string) {
	t.Helper()
	w := newWorkspace(t, server)
	create(w, secrets, "Secret", secret("default", "identity", key))
	export := servertest.Export(t, w.config, "wildwest", secretRef("default", "identity"), servertest.CowboySchema())
	return w, export.Status.IdentityHash
}

// newConsumer makes a workspace that has bound the export of provider and has a cowboy.
func newConsumer(t testing.TB, server *servertest.Server, provider workspace, cowboy string) workspace {
	t.Helper()
	w := newWorkspace(t, server)
	servertest.Bind(t, w.config, provider.path, "wildwest")
	w.mustCreate(servertest.Cowboy(cowboy))
	return w
}

func (w workspace) mustCreate(cowboy *unstructured.Unstructured) {
	w.Helper()
	if _, err := w.resource(cowboys, "default").Create(w.Context(), cowboy, metav1.CreateOptions{}); err != nil {
		w.Fatalf("creating cowboy %s in %s: %v", cowboy.GetName(), w.path, err)
	}
}

// names returns the names of objects, sorted.
func names[T any, O interface {
	*T
	metav1.Object
}](items []T,
) []string {
	var all []string
	for i := range items {
		all = append(all, O(&items[i]).GetName())
	}
	slices.Sort(all)
	return all
}

func TestRequestsByIdentity(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	one, oneID := newCowboyProvider(t, server, "abcd1234")
	two, twoID := newCowboyProvider(t, server, "xxx")
	again, sameID := newCowboyProvider(t, server, "abcd1234")
	same(t, "the same key is the same identity", oneID, sameID)
	a := newConsumer(t, server, one, "in-a")
	newConsumer(t, server, two, "in-b")
	newConsumer(t, server, again, "in-c")
	all := as(t, server.As(t, "admin-token", "*"), "*")

	list := func(w workspace, r schema.GroupVersionResource) ([]string, error) {
		found, err := w.resource(r, "").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return names(found.Items), nil
	}
	expect := func(reason string, w workspace, r schema.GroupVersionResource, want ...string) {
		t.Helper()
		got, err := list(w, r)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			return
		}
		same(t, reason, want, got)
	}
	refused := func(reason string, w workspace, r schema.GroupVersionResource, is func(error) bool) {
		t.Helper()
		if _, err := list(w, r); !is(err) {
			t.Errorf("%s: got %v", reason, err)
		}
	}

	t.Run("Wildcard", func(t *testing.T) {
		expect("all that have bound an export with the identity", all, identified(cowboys, oneID), "in-a", "in-c")
		expect("and no others", all, identified(cowboys, twoID), "in-b")
		// Root has exports of its own, others have one each.
		expect("what every workspace has needs no identity", all, exports,
			"shards.core.kcp.io", "tenancy.kcp.io", "topology.kcp.io", "wildwest", "wildwest", "wildwest")
		refused("without an identity nobody knows what is meant", all, cowboys, apierrors.IsNotFound)
		if body := bodyOf(all, "/apis/wildwest.dev/v1alpha1/cowboys"); !strings.Contains(body, `"kind":"Status"`) {
			t.Errorf("the answer is a Status: got %s", body)
		}
		refused("nor with one that nobody has bound", all, identified(cowboys, strings.Repeat("0", 64)), apierrors.IsNotFound)
		refused("an identity is not empty", all, identified(cowboys, ""), apierrors.IsBadRequest)
		refused("what is built in has none", all, identified(secrets, oneID), apierrors.IsNotFound)
		refused("all workspaces are the business of the privileged", as(t, server.As(t, "user-1-token", "*"), "*"), identified(cowboys, oneID), apierrors.IsForbidden)
		if _, err := all.resource(identified(cowboys, oneID), "default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsBadRequest(err) {
			t.Errorf("namespaces of one name have nothing in common: got %v", err)
		}
		if _, err := all.resource(identified(cowboys, oneID), "default").Get(t.Context(), "in-a", metav1.GetOptions{}); !apierrors.IsMethodNotSupported(err) {
			t.Errorf("there is no one object: got %v", err)
		}
		found, err := all.resource(identified(cowboys, twoID), "").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cluster := found.Items[0].GetAnnotations()["kcp.io/cluster"]
		events, err := all.resource(identified(cowboys, twoID), "").Watch(t.Context(), metav1.ListOptions{ResourceVersion: found.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer events.Stop()
		a.mustCreate(servertest.Cowboy("of-another-identity"))
		as(t, server.In(t, "base", cluster), "").mustCreate(servertest.Cowboy("new"))
		if event := <-events.ResultChan(); event.Type != watch.Added || event.Object.(metav1.Object).GetName() != "new" {
			t.Errorf("the watch tells of %s %v", event.Type, event.Object)
		}
		a.delete(cowboys, "default", "of-another-identity")
	})

	t.Run("Workspace", func(t *testing.T) {
		expect("what the workspace has bound", a, identified(cowboys, oneID), "in-a")
		for reason, r := range map[string]schema.GroupVersionResource{
			"what it has not":              identified(cowboys, twoID),
			"what nobody has":              identified(cowboys, strings.Repeat("0", 64)),
			"what is built in":             identified(secrets, oneID),
			"what is there for everything": identified(cowboys, "customresources"),
		} {
			refused(reason, a, r, apierrors.IsNotFound)
		}
		refused("strangers are told nothing", as(t, server.As(t, "user-1-token", a.path), ""), identified(cowboys, oneID), apierrors.IsForbidden)
		refused("nor are they of what is not there", as(t, server.As(t, "user-1-token", a.path), ""), identified(cowboys, twoID), apierrors.IsForbidden)
	})

	t.Run("Metadata", func(t *testing.T) {
		own := newWorkspace(t, server)
		create(own, crds, "CustomResourceDefinition", cowboyDefinition())
		servertest.Eventually(t, "the definition to be served", func() (bool, any) {
			_, err := own.resource(cowboys, "default").Create(t.Context(), servertest.Cowboy("of-its-own"), metav1.CreateOptions{})
			return err == nil, err
		})
		client, err := metadata.NewForConfig(server.As(t, "admin-token", "*"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := client.Resource(cowboys).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "metadata are those of all identities", []string{"in-a", "in-b", "in-c", "new", "of-its-own"}, names(found.Items))
		for i := range found.Items {
			if found.Items[i].Annotations["kcp.io/original-api-version"] != "wildwest.dev/v1alpha1" {
				t.Errorf("%s does not say its version: %v", found.Items[i].Name, found.Items[i].Annotations)
			}
		}
		events, err := client.Resource(cowboys).Watch(t.Context(), metav1.ListOptions{ResourceVersion: found.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		defer events.Stop()
		for _, from := range []struct {
			w    workspace
			name string
		}{{a, "in-a"}, {own, "of-its-own"}} {
			from.w.delete(cowboys, "default", from.name)
			event := <-events.ResultChan()
			if event.Type != watch.Deleted || event.Object.(metav1.Object).GetName() != from.name {
				t.Errorf("the watch of all identities tells of %s %v instead of %s", event.Type, event.Object, from.name)
			}
		}
	})
}

func cowboyDefinition() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "cowboys.wildwest.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: cowboys.Group, Names: servertest.CowboySchema().Spec.Names, Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: cowboys.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// TestIdentityInAccessReviews: authorization sees the resource without the identity, so
// that a rule for the resource is one for it by any name.
func TestIdentityInAccessReviews(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	provider, id := newCowboyProvider(t, server, "abcd1234")
	consumer := newConsumer(t, server, provider, "in-a")
	grant(consumer, "user-1", []string{"list"}, []string{cowboys.Group}, []string{cowboys.Resource})
	user := as(t, server.As(t, "user-1-token", consumer.path), consumer.path)
	for _, r := range []schema.GroupVersionResource{cowboys, identified(cowboys, id)} {
		servertest.Eventually(t, "the rule to apply to "+r.Resource, func() (bool, any) {
			_, err := user.resource(r, "").List(t.Context(), metav1.ListOptions{})
			return err == nil, err
		})
		if _, err := user.resource(r, "default").Get(t.Context(), "in-a", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("%s: what the rule does not allow: got %v", r.Resource, err)
		}
	}
}

// grant lets a user into a workspace, and do what a rule says there.
func grant(w workspace, user string, verbs, groups, resources []string) {
	w.Helper()
	rbacGroup := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	objects := []struct{ resource, kind, content string }{
		{"clusterroles", "ClusterRole", `{"metadata":{"name":"` + user + `"},"rules":[{"verbs":["access"],"nonResourceURLs":["/"]},{"verbs":` + quoted(verbs) + `,"apiGroups":` + quoted(groups) + `,"resources":` + quoted(resources) + `}]}`},
		{"clusterrolebindings", "ClusterRoleBinding", `{"metadata":{"name":"` + user + `"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + user + `"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"` + user + `"}]}`},
	}
	for _, o := range objects {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(o.content), &u.Object); err != nil {
			w.Fatal(err)
		}
		u.SetGroupVersionKind(rbacGroup.WithKind(o.kind))
		if _, err := w.resource(rbacGroup.WithResource(o.resource), "").Create(w.Context(), u, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
}

func quoted(all []string) string {
	raw, _ := json.Marshal(all)
	return string(raw)
}

// bodyOf returns what the server answers, whatever it is.
func bodyOf(w workspace, path string) string {
	w.Helper()
	client, err := rest.HTTPClientFor(w.config)
	if err != nil {
		w.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.config.Host+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	return strings.ReplaceAll(string(body), `"kind": "`, `"kind":"`)
}
