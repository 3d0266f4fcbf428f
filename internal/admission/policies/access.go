package policies

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Access is what the evaluation of policies may read. All of it is required, and answers
// for the cluster in the context.
type Access struct {
	// Sources are the policies of all clusters, and what reads namespaces.
	Sources informers.Sources
	// Objects reads parameters.
	Objects Objects
	// ParamKind says what serves the kind of parameters.
	ParamKind ParamKind
	// Authorizer answers what expressions ask about the caller.
	Authorizer authorizer.Authorizer
}

// ParamKind returns the resource that serves a kind in a cluster, and whether its objects
// are in namespaces; ok is false if there is none.
type ParamKind func(cluster logicalcluster.Name, kind schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced, ok bool)

// Objects reads objects of any resource that the cluster of ctx serves, in the version
// asked for. They are read only. What is not there is a NotFound Status.
type Objects interface {
	// Get returns one object; namespace is empty if the resource has none.
	Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error)
	// List returns the objects that selector selects.
	List(ctx context.Context, resource schema.GroupVersionResource, namespace string, selector labels.Selector) ([]runtime.Object, error)
}

// Matcher returns what matches the request of ctx against constraints. The namespaces are
// those of the request, whosever the policies are.
func (a *Access) Matcher(ctx context.Context) (*matching.Matcher, error) {
	here, err := request.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	namespaces := a.Sources.Factory(ctx, here).Core().V1().Namespaces()
	return matching.NewMatcher(namespaces.Lister(), a.Sources.Client(here)), nil
}

// AuthorizerOf returns the authorizer for the request of ctx. The library of CEL calls
// it with a context that knows nothing of the request.
func (a *Access) AuthorizerOf(ctx context.Context) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		return a.Authorizer.Authorize(ctx, attributes)
	})
}
