package server

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/authn/serviceaccount"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/server/options"
)

// bound returns what reads the pods and nodes that tokens may be bound to; nil if there are
// none.
func (s *Server) bound() serviceaccount.Bound {
	if !s.options.Batteries.Has(options.WorkloadTypesBattery) {
		return nil
	}
	return boundObjects{s}
}

// boundObjects is a serviceaccount.Bound that reads through the registries.
type boundObjects struct{ server *Server }

// GetPod implements serviceaccount.Bound.
func (b boundObjects) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, b.read(request.WithNamespace(ctx, namespace), "pods", name, pod)
}

// GetNode implements serviceaccount.Bound.
func (b boundObjects) GetNode(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	return node, b.read(ctx, "nodes", name, node)
}

func (b boundObjects) read(ctx context.Context, resource, name string, into runtime.Object) error {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return err
	}
	registry, err := b.server.registry(cluster, corev1.SchemeGroupVersion.WithResource(resource))
	if err != nil {
		return err
	}
	getter, ok := registry.(rest.Getter)
	if !ok {
		return fmt.Errorf("%s cannot be read", resource)
	}
	// As it is now: a token is worth nothing any more when what it is bound to has gone.
	stored, err := getter.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return err
	}
	return builtin.Scheme.Convert(stored, into, nil)
}
