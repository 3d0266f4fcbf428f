package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// fieldManager owns the fields of what is applied.
const fieldManager = "kcp-apply"

// Applier applies to one workspace. It may be used by one goroutine at a time.
type Applier struct {
	objects dynamic.Interface
	kinds   *kinds
}

// New returns an Applier for the workspace that config is directed at.
func New(config *rest.Config) (*Applier, error) {
	config = unhurried(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	kinds, err := newKinds(config, client)
	if err != nil {
		return nil, err
	}
	return &Applier{objects: objects, kinds: kinds}, nil
}

// unhurried returns config for a client that is not slowed down, and whose warnings go
// nowhere: what is applied is not the reader's doing.
func unhurried(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// Apply applies the manifests in their order, and waits after each until the next may
// rely on it. It ends with the first error, which says which manifest it is about.
func (a *Applier) Apply(ctx context.Context, manifests ...Manifest) error {
	for _, m := range manifests {
		if err := a.one(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

func (a *Applier) one(ctx context.Context, m Manifest) error {
	client, err := a.clientFor(ctx, m.Object)
	if err != nil {
		return err
	}
	applied, err := client.Apply(ctx, m.Object.GetName(), appliable(m.Object), metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return err
	}
	return a.settle(ctx, client, applied)
}

// appliable returns the object without what only a server writes, and no request to
// apply may have.
func appliable(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(object.Object, "status")
	return object
}

// clientFor returns what the object is written with. An object without a namespace, of a
// kind that has some, belongs into "default", as with kubectl.
func (a *Applier) clientFor(ctx context.Context, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	mapping, err := a.kinds.find(ctx, object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	resource := a.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return resource, nil
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return resource.Namespace(namespace), nil
}

// settle waits until the object is what it will be, and what it brings is served.
func (a *Applier) settle(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	if isSettledAtOnce(object) {
		return nil
	}
	return poll(ctx, func() (done bool, waiting string, err error) {
		latest, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, "", ignoreTransient(err)
		}
		is := standingOf(latest)
		switch {
		case is.never != nil:
			return false, "", is.never
		case !is.settled:
			return false, is.waiting + complaints(latest), nil
		}
		for _, resource := range is.served {
			served, err := a.kinds.serves(ctx, resource)
			if err != nil {
				return false, "", ignoreTransient(err)
			}
			if !served {
				return false, resource.GroupResource().String() + " is not served", nil
			}
		}
		return true, "", nil
	})
}

func isSettledAtOnce(object *unstructured.Unstructured) bool {
	is := standingOf(object)
	return is.settled && len(is.served) == 0
}

// ignoreTransient drops errors after which it makes sense to ask again.
func ignoreTransient(err error) error {
	if apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) {
		return nil
	}
	return err
}
