package catalog

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// DeleteInstances deletes all objects of crd in cluster. Objects with finalizers stay
// until those are gone; Instances tells which. Nobody is asked for admission.
func (c *Catalog) DeleteInstances(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	definition, err := schema.New(crd)
	if err != nil {
		return err
	}
	return c.DeleteBoundInstances(ctx, cluster, definition, storage.CustomResources)
}

// DeleteBoundInstances is DeleteInstances for the objects of definition that are stored
// under an identity.
func (c *Catalog) DeleteBoundInstances(ctx context.Context, cluster logicalcluster.Name, definition *schema.Definition, identity string) error {
	registry, err := c.instances(definition, identity)
	if err != nil {
		return err
	}
	ctx = logicalcluster.NewContext(ctx, cluster)
	items, err := list(ctx, registry)
	if err != nil {
		return fmt.Errorf("listing instances: %w", err)
	}
	var failed []error
	done := map[string]bool{}
	for i := range items {
		namespace := items[i].GetNamespace()
		if done[namespace] {
			continue
		}
		done[namespace] = true
		ctx := request.WithNamespace(ctx, namespace)
		if _, err := registry.DeleteCollection(ctx, rest.ValidateAllObjectFunc, nil, nil); err != nil {
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("deleting instances: %w", err)
	}
	return nil
}

// Instance names an object of a definition.
type Instance struct {
	Namespace, Name string
	// Finalizers are what the object waits for, if it is being deleted.
	Finalizers []string
}

// Instances returns the objects of crd that are in cluster, none older than the last
// write.
func (c *Catalog) Instances(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) ([]Instance, error) {
	definition, err := schema.New(crd)
	if err != nil {
		return nil, err
	}
	return c.BoundInstances(ctx, cluster, definition, storage.CustomResources)
}

// BoundInstances is Instances for the objects of definition that are stored under an
// identity.
func (c *Catalog) BoundInstances(ctx context.Context, cluster logicalcluster.Name, definition *schema.Definition, identity string) ([]Instance, error) {
	registry, err := c.instances(definition, identity)
	if err != nil {
		return nil, err
	}
	items, err := list(logicalcluster.NewContext(ctx, cluster), registry)
	if err != nil {
		return nil, fmt.Errorf("listing instances: %w", err)
	}
	instances := make([]Instance, len(items))
	for i := range items {
		instances[i] = Instance{
			Namespace:  items[i].GetNamespace(),
			Name:       items[i].GetName(),
			Finalizers: items[i].GetFinalizers(),
		}
	}
	return instances, nil
}

func list(ctx context.Context, registry rest.Lister) ([]unstructured.Unstructured, error) {
	obj, err := registry.List(ctx, nil)
	if err != nil {
		return nil, err
	}
	return obj.(*unstructured.UnstructuredList).Items, nil
}

// instances returns a registry of the objects of definition as they are stored, whatever
// their version. Deleting them needs neither their schema nor a conversion: a definition
// whose webhook is gone can still be removed. It works for definitions that are not
// served (any more) as well: those that another one hides.
//
// It is made for each call, which takes little. Nobody would ever tell that it can be
// forgotten.
func (c *Catalog) instances(definition *schema.Definition, identity string) (*customresource.REST, error) {
	version, ok := definition.StorageVersion()
	if !ok {
		return nil, fmt.Errorf("definition %s has no storage version", definition.CRD.Name)
	}
	served := schema.Served{Definition: metadataDefinition(definition, version), Identity: identity}
	config, err := c.apis.configFor(served)
	if err != nil {
		return nil, err
	}
	config.AsStored = true
	api, err := compiled.New(served.Definition, config)
	if err != nil {
		return nil, err
	}
	compiledVersion, err := api.Version(version)
	if err != nil {
		return nil, err
	}
	return compiledVersion.Resource, nil
}
