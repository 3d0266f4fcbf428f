package plugins

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// original is a server in front of ours that knows what the original serves, and nothing
// else: its groups in its versions, Kubernetes' own, and its virtual workspaces.
type original struct {
	proxy *httputil.ReverseProxy

	mu      sync.Mutex
	unknown []string
}

// knownPaths are the paths that the original serves below a workspace.
var knownPaths = regexp.MustCompile(`^/(clusters/[^/]+/)?(api|apis|version|openapi/.*|` +
	`apis/[^/]+(/[^/]+)?|` +
	`api/v1/.*|` +
	`apis/(tenancy|core|topology)\.kcp\.io/v1alpha1/(workspaces|workspacetypes|workspaceauthenticationconfigurations|logicalclusters|shards|partitions|partitionsets)(/.*)?|` +
	`apis/apis\.kcp\.io/(v1alpha1|v1alpha2)/(apiexports|apibindings|apiresourceschemas|apiexportendpointslices|apiconversions)(/.*)?|` +
	`apis/(apps|authorization\.k8s\.io|authentication\.k8s\.io|rbac\.authorization\.k8s\.io|apiextensions\.k8s\.io|coordination\.k8s\.io|events\.k8s\.io|admissionregistration\.k8s\.io|certificates\.k8s\.io)/v1/.*|` +
	`apis/(example\.dev|wildwest\.dev)/.*)$|^/services/(apiexport|initializingworkspaces|terminatingworkspaces)/.*|^/(readyz|livez|healthz|version)$`)

func newOriginal(t *testing.T, s *servertest.Server) *original {
	t.Helper()
	config := s.Config(t, "base")
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	return &original{proxy: &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}}
}

func (o *original) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if knownPaths.MatchString(r.URL.Path) {
		o.proxy.ServeHTTP(w, r)
		return
	}
	o.mu.Lock()
	o.unknown = append(o.unknown, r.Method+" "+r.URL.Path)
	o.mu.Unlock()
	http.NotFound(w, r)
}

// refused returns the requests since the last call that the original does not know.
func (o *original) refused() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	unknown := o.unknown
	o.unknown = nil
	return unknown
}
