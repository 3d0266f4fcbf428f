package virtual

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
)

// all is what a provider sees of all its consumers at once.
var all = map[string]behavior{
	"List": {
		reason: "one list has the objects of all consumers, and each says whose it is",
		test: func(t *testing.T, s *suite) {
			for _, in := range []place{s.first, s.second} {
				_, err := s.admin(t, in).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("woody", "toys"), metav1.CreateOptions{})
				must(t, err)
			}
			found, err := list(t.Context(), s.through(t, looking, everywhere), cowboys)
			must(t, err)
			if in := clusters(found, "woody"); !in[s.first.name] || !in[s.second.name] || len(in) != 2 {
				t.Errorf("found in %v", in)
			}
		},
	},
	"Pages": {
		reason: "a list can be read in pages",
		test: func(t *testing.T, s *suite) {
			for _, name := range []string{"paged-1", "paged-2", "paged-3"} {
				_, err := s.admin(t, s.first).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy(name, ""), metav1.CreateOptions{})
				must(t, err)
			}
			client := s.through(t, looking, everywhere).Resource(cowboys)
			names, options := map[string]int{}, metav1.ListOptions{Limit: 1}
			for {
				page, err := client.List(t.Context(), options)
				must(t, err)
				for i := range page.Items {
					names[page.Items[i].GetAnnotations()["kcp.io/cluster"]+"/"+page.Items[i].GetName()]++
				}
				if options.Continue = page.GetContinue(); options.Continue == "" {
					break
				}
			}
			for _, name := range []string{"paged-1", "paged-2", "paged-3"} {
				if names[s.first.name+"/"+name] != 1 {
					t.Errorf("%s is there %d times", name, names[s.first.name+"/"+name])
				}
			}
		},
	},
	"Namespace": {
		reason: "a namespace is that of one cluster",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, providing, everywhere)
			_, err := client.Resource(cowboys).Namespace("default").List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusBadRequest, "cross-cluster LIST and WATCH are required to be cross-namespace")
			_, err = client.Resource(configmaps).Namespace("default").Watch(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusBadRequest, "cross-namespace")
		},
	},
	"Writes": {
		reason: "objects are written, and single ones read, in one cluster",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, providing, everywhere).Resource(cowboys).Namespace("default")
			_, err := client.Get(t.Context(), "x", metav1.GetOptions{})
			wantCode(t, err, http.StatusMethodNotAllowed)
			_, err = client.Create(t.Context(), cowboy("x", ""), metav1.CreateOptions{})
			wantCode(t, err, http.StatusMethodNotAllowed)
			_, err = client.Update(t.Context(), cowboy("x", ""), metav1.UpdateOptions{})
			wantCode(t, err, http.StatusMethodNotAllowed)
			_, err = client.Patch(t.Context(), "x", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			wantCode(t, err, http.StatusMethodNotAllowed)
			wantCode(t, client.Delete(t.Context(), "x", metav1.DeleteOptions{}), http.StatusMethodNotAllowed)
			wantCode(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), http.StatusMethodNotAllowed)
		},
	},
	"Identity": {
		reason: "an identity may be named beside the resource, if it is that of the export",
		test: func(t *testing.T, s *suite) {
			export, err := s.admin(t, s.provider).Resource(exports).Get(t.Context(), "wild.west", metav1.GetOptions{})
			must(t, err)
			hash, _, _ := unstructured.NestedString(export.Object, "status", "identityHash")
			for _, in := range []place{everywhere, s.first} {
				at := services(s.provider, "wild.west", in)
				for path, code := range map[string]int{
					"/apis/wildwest.dev/v1/cowboys:" + hash: http.StatusOK, "/apis/wildwest.dev/v1/cowboys:other": http.StatusNotFound,
					"/api/v1/configmaps:" + hash: http.StatusNotFound,
				} {
					if got, body := s.get(t, providing, at+path); got != code {
						t.Errorf("%s in %s: %d %s", path, in.name, got, body)
					}
				}
			}
		},
	},
	"Unserved": {
		reason: "what the export neither exports nor claims is not there",
		test: func(t *testing.T, s *suite) {
			_, err := list(t.Context(), s.through(t, providing, everywhere), namespaces)
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Reserved": {
		reason: "what every workspace has nobody else can provide: an export of that name serves nothing, least of all what is there",
		test: func(t *testing.T, s *suite) {
			for _, resource := range []schema.GroupVersionResource{
				secrets, clusterrole, crds, apibindings, workspaces,
				{Group: "core.kcp.io", Version: "v1alpha1", Resource: "logicalclusters"},
			} {
				pretender, group := s.newPlace(t), resource.Group
				if group == "" {
					group = "core"
				}
				s.provide(t, pretender, fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata:
  name: today.%[1]s.%[2]s
  annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes/kubernetes/pull/1"}
spec:
  group: %[3]q
  names: {plural: %[1]s, singular: pretender, kind: Pretender, listKind: PretenderList}
  scope: Cluster
  versions: [{name: %[4]s, served: true, storage: true, schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}]
`, resource.Resource, group, resource.Group, resource.Version), fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: pretender}
spec: {resources: [{name: %[1]s, group: %[3]q, schema: today.%[1]s.%[2]s}]}
`, resource.Resource, group, resource.Group))
				config := s.config(t, providing, pretender, "pretender", everywhere)
				eventuallyRefused(t, func(int) error {
					_, err := list(t.Context(), newClient(t, config), resource)
					return err
				}, "could not find the requested resource")
			}
		},
	},
	"Unaccepted": {
		reason: "a claim that nobody has accepted contributes nothing",
		test: func(t *testing.T, s *suite) {
			found, err := list(t.Context(), s.through(t, providing, everywhere), secrets)
			must(t, err)
			if len(found.Items) != 0 {
				t.Errorf("%d secrets are shown", len(found.Items))
			}
		},
	},
	"Unbound": {
		reason: "an export that nobody has bound has no objects, and can be watched",
		test: func(t *testing.T, s *suite) {
			lonely := s.newPlace(t)
			s.provide(t, lonely, cowboySchema, cowboyExport)
			client := newClient(t, s.config(t, providing, lonely, "wild.west", everywhere))
			found, err := list(t.Context(), client, cowboys)
			must(t, err)
			if len(found.Items) != 0 {
				t.Errorf("%d objects", len(found.Items))
			}
			watch, err := client.Resource(cowboys).Watch(t.Context(), metav1.ListOptions{ResourceVersion: found.GetResourceVersion()})
			must(t, err)
			defer watch.Stop()

			consumer := s.newPlace(t)
			s.bind(t, consumer, lonely, "wild.west")
			_, err = s.admin(t, consumer).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("first", ""), metav1.CreateOptions{})
			must(t, err)
			if event := next(t, watch); event.name != "first" || event.cluster != consumer.name {
				t.Errorf("got %+v", event)
			}
		},
	},
	"TwoProviders": {
		reason: "two exports of the same resource have different identities and never see each other's objects",
		test: func(t *testing.T, s *suite) {
			other := s.newPlace(t)
			s.provide(t, other, cowboySchema, cowboyExport)
			consumer := s.newPlace(t)
			s.bind(t, consumer, other, "wild.west")
			_, err := s.admin(t, consumer).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("theirs", ""), metav1.CreateOptions{})
			must(t, err)
			_, err = s.admin(t, s.first).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("ours", ""), metav1.CreateOptions{})
			must(t, err)

			found, err := list(t.Context(), newClient(t, s.config(t, providing, other, "wild.west", everywhere)), cowboys)
			must(t, err)
			if len(clusters(found, "theirs")) != 1 || len(found.Items) != 1 {
				t.Errorf("the other provider sees %d objects", len(found.Items))
			}
			found, err = list(t.Context(), s.through(t, providing, everywhere), cowboys)
			must(t, err)
			if len(clusters(found, "theirs")) != 0 || len(clusters(found, "ours")) != 1 {
				t.Error("the provider sees what is not its own")
			}
			// The consumer has bound the other one, under the same name.
			_, err = list(t.Context(), s.through(t, providing, consumer), cowboys)
			wantCode(t, err, http.StatusForbidden, "access denied")
		},
	},
	"Recreated": {
		reason: "what a consumer had is gone with it, also if there is one of its name again",
		test: func(t *testing.T, s *suite) {
			ws := s.server.Workspace(t, "root", "short-lived")
			before := place{name: ws.Spec.Cluster, path: "root:short-lived"}
			s.bind(t, before, s.provider, "wild.west")
			_, err := s.admin(t, before).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("ephemeral", ""), metav1.CreateOptions{})
			must(t, err)
			must(t, s.admin(t, place{name: "root"}).Resource(workspaces).Delete(t.Context(), ws.Name, metav1.DeleteOptions{}))
			servertest.Eventually(t, "the objects are gone with the workspace", func() (bool, any) {
				found, err := list(t.Context(), s.through(t, looking, everywhere), cowboys)
				if err != nil {
					return false, err
				}
				_, err = s.admin(t, place{name: "root"}).Resource(workspaces).Get(t.Context(), ws.Name, metav1.GetOptions{})
				return len(clusters(found, "ephemeral")) == 0 && err != nil, len(found.Items)
			})
			again := s.server.Workspace(t, "root", "short-lived")
			after := place{name: again.Spec.Cluster, path: "root:short-lived"}
			s.bind(t, after, s.provider, "wild.west")
			for _, in := range []place{everywhere, after, {name: after.path}} {
				found, err := list(t.Context(), s.through(t, providing, in), cowboys)
				must(t, err)
				if len(clusters(found, "ephemeral")) != 0 {
					t.Errorf("an object of the old workspace appears in %s", in.name)
				}
			}
		},
	},
}
