package badinput

import (
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery"
)

// public are the paths that answer everybody, below any workspace.
var public = []string{"/healthz", "/livez", "/readyz"}

// route is a path that something is registered for.
type route struct{ method, path string }

// unauthenticated calls everything that is registered anywhere in the server, without
// credentials. A handler that can be reached before authentication would be open to
// everybody, for all workspaces; there have been such servers.
func (s *suite) unauthenticated(t *testing.T) {
	routes := slices.Concat(s.registered(t), s.discovered(t), guessed())
	if len(routes) < 400 {
		t.Fatalf("found %d routes only: they are not enumerated as they should be", len(routes))
	}
	for _, workspace := range []string{
		"", "/clusters/root", mine, "/clusters/" + s.foreign, "/clusters/*", "/clusters/system:admin",
		"/services/apiexport/root/tenancy.kcp.io/clusters/*", "/services/apiresourceschema/root/clusters/root",
	} {
		for _, r := range routes {
			s.callUnauthenticated(t, workspace, r)
		}
	}
}

func (s *suite) callUnauthenticated(t *testing.T, workspace string, r route) {
	t.Helper()
	code, _, body := s.do(t, request{
		reason: "without credentials", token: nobody, method: r.method, path: workspace + r.path,
		contentType: asJSON, body: `{}`,
	})
	switch {
	case slices.Contains(public, r.path):
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound:
	case code == http.StatusNotImplemented && workspace != "" && strings.HasPrefix(r.path, "/metrics"):
		// There is nothing behind it, for nobody.
	default:
		t.Errorf("%s %s answers %d without credentials: %s", r.method, workspace+r.path, code, shorten(body))
	}
}

// placeholder is a part of a registered path that stands for anything.
var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// registered returns what the parts of the generic server have registered.
func (s *suite) registered(t *testing.T) []route {
	t.Helper()
	handler, ok := s.server.Handler().(*genericapiserver.APIServerHandler)
	if !ok {
		t.Fatalf("the handler of the server is a %T, of which the routes are not known", s.server.Handler())
	}
	var routes []route
	for _, service := range handler.GoRestfulContainer.RegisteredWebServices() {
		for _, r := range service.Routes() {
			routes = append(routes, route{r.Method, placeholder.ReplaceAllString(r.Path, "default")})
		}
	}
	for _, p := range handler.NonGoRestfulMux.ListedPaths() {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			routes = append(routes, route{method, p}, route{method, path.Join(p, "x")})
		}
	}
	return routes
}

// discovered returns the paths of what discovery says of a workspace: the resources of
// definitions are registered nowhere.
func (s *suite) discovered(t *testing.T) []route {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(s.server.In(t, "base", "root:mine"))
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var routes []route
	for _, list := range lists {
		prefix := "/apis/" + list.GroupVersion
		if !strings.Contains(list.GroupVersion, "/") {
			prefix = "/api/" + list.GroupVersion
		}
		for _, resource := range list.APIResources {
			routes = append(routes, routesOf(prefix, resource)...)
		}
	}
	return routes
}

func routesOf(prefix string, resource metav1.APIResource) []route {
	if resource.Namespaced {
		prefix += "/namespaces/default"
	}
	name, subresource, _ := strings.Cut(resource.Name, "/")
	collection := prefix + "/" + name
	object := strings.TrimSuffix(collection+"/x/"+subresource, "/")
	routes := []route{
		{http.MethodGet, collection}, {http.MethodGet, collection + "?watch=true&timeoutSeconds=1"},
		{http.MethodPost, collection}, {http.MethodDelete, collection},
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		routes = append(routes, route{method, object})
	}
	return routes
}

// guessed returns paths that other servers of this kind, and other versions of this
// one, have had open, beside the public ones.
func guessed() []route {
	var routes []route
	for _, p := range append([]string{
		"/", "/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/swagger.json", "/version", "/version/",
		"/metrics", "/metrics/slis", "/metrics/resources", "/debug/pprof", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/flags/v",
		"/debug/api_priority_and_fairness/dump_requests", "/logs", "/configz", "/statusz", "/flagz", "/livez/etcd", "/readyz/ping", "/healthz/etcd",
		"/.well-known/openid-configuration", "/openid/v1/jwks", "/clusters", "/services", "/services/",
		"/services/cache/shards/root/clusters/root/apis/core.kcp.io/v1alpha1/logicalclusters", "/services/apiexport/root/x/clusters/*/api",
		"/services/initializingworkspaces/root:universal/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters", "/services/replication/",
	}, public...) {
		routes = append(routes, route{http.MethodGet, p})
	}
	return routes
}
