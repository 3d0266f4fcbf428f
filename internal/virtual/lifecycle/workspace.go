package lifecycle

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

var (
	resource = corev1alpha1.Resource("logicalclusters")
	kind     = corev1alpha1.GroupVersion.WithKind("LogicalCluster")
)

// Config is what a Workspace needs. All fields but Content are required.
type Config struct {
	// Clusters returns the store of LogicalClusters.
	Clusters  func() (apistorage.Interface, bool)
	Catalog   *catalog.Catalog
	Discovery *discovery.Discovery
	OpenAPI   *openapi.OpenAPI
	// Authorizer knows the policy of the cluster in the context.
	Authorizer authorizer.Authorizer
	// Content serves authorized requests for what is in a single cluster, which is in the
	// context, beside its LogicalCluster. It finds out by itself whether it is the turn of
	// the hook. Nil serves nothing.
	Content http.Handler
	// Clock says when somebody has written as a hook.
	Clock clock.PassiveClock
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Workspace is the virtual workspace of all hooks of a kind.
type Workspace struct {
	Config
	kind tenancy.HookKind
}

// New returns the virtual workspace of hooks of a kind.
func New(kind tenancy.HookKind, config Config) *Workspace {
	return &Workspace{Config: config, kind: kind}
}

// Name implements virtual.Workspace.
func (w *Workspace) Name() string { return w.kind.VirtualWorkspace() }

// Segments implements virtual.Workspace: the identifier of the hook.
func (*Workspace) Segments() int { return 1 }

// Home implements virtual.Named: the cluster of the workspace type. Hooks of the server are
// at home where its policy is.
func (w *Workspace) Home(id string) logicalcluster.Name {
	hook, err := tenancy.ParseHook(w.kind, id)
	switch {
	case err != nil:
		return logicalcluster.Name{}
	case hook.System():
		return logicalcluster.SystemAdmin
	default:
		return hook.Cluster
	}
}
