package crash

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	workspaces      = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	logicalClusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	bindings        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets         = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// client writes until the server is gone.
type client struct {
	*process
	ledger *ledger
	// name begins the names of everything it creates.
	name string
}

// run makes one workspace after the other until a request fails, which it returns.
func (c *client) run(ctx context.Context) error {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s-%d", c.name, n)
		if err := c.workspace(ctx, "root", name); err != nil {
			return err
		}
		path := "root:" + name
		if err := c.fill(ctx, path); err != nil {
			return err
		}
		switch n % 3 {
		case 1:
			// Nested, and filled, so that its deletion takes a while.
			if err := c.workspace(ctx, path, c.name+"-nested"); err != nil {
				return err
			}
			if err := c.fill(ctx, path+":"+c.name+"-nested"); err != nil {
				return err
			}
		case 2:
			if err := c.end(ctx, fmt.Sprintf("%s-%d", c.name, n-1)); err != nil {
				return err
			}
		}
	}
}

// workspace creates a workspace and waits until it is ready.
func (c *client) workspace(ctx context.Context, parent, name string) error {
	o := object{workspace: parent, resource: workspaces, name: name}
	if err := c.create(ctx, o, map[string]any{"spec": map[string]any{"type": map[string]any{"name": "universal", "path": "root"}}}); err != nil {
		return err
	}
	return eventually(ctx, "waiting for "+o.String(), func() error {
		ws, err := c.of(o).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if phase, _, _ := unstructured.NestedString(ws.Object, "status", "phase"); phase != "Ready" {
			return fmt.Errorf("phase is %q", phase)
		}
		return nil
	})
}

// fill creates objects in a workspace, and changes and deletes some of them.
func (c *client) fill(ctx context.Context, path string) error {
	for _, name := range []string{"kept", "changed", "deleted"} {
		o := object{workspace: path, resource: configMaps, namespace: "default", name: name}
		if err := c.create(ctx, o, map[string]any{"data": map[string]any{"value": "0"}}); err != nil {
			return err
		}
	}
	if err := c.change(ctx, object{workspace: path, resource: configMaps, namespace: "default", name: "changed"}); err != nil {
		return err
	}
	if err := c.remove(ctx, object{workspace: path, resource: configMaps, namespace: "default", name: "deleted"}); err != nil {
		return err
	}
	definition := object{workspace: path, resource: definitions, name: "widgets.example.com"}
	if err := c.create(ctx, definition, widgetDefinition()); err != nil {
		return err
	}
	if err := eventually(ctx, "waiting for "+definition.String(), func() error { return c.established(ctx, definition) }); err != nil {
		return err
	}
	for _, name := range []string{"one", "two"} {
		if err := c.create(ctx, object{workspace: path, resource: widgets, namespace: "default", name: name}, nil); err != nil {
			return err
		}
	}
	return nil
}

// change changes an object three times.
func (c *client) change(ctx context.Context, o object) error {
	for value := 1; value <= 3; value++ {
		c.ledger.note(o, func(e *entry) { e.tried = value })
		patch, err := json.Marshal(map[string]any{"data": map[string]any{"value": fmt.Sprint(value)}})
		if err != nil {
			return err
		}
		if _, err := c.of(o).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("changing %s: %w", o, err)
		}
		c.ledger.acknowledge(o, func(e *entry) { e.acknowledged = value })
	}
	return nil
}

// end deletes a workspace below root.
func (c *client) end(ctx context.Context, name string) error {
	c.ledger.forget("root:" + name)
	return c.remove(ctx, object{workspace: "root", resource: workspaces, name: name})
}

// create creates an object.
func (c *client) create(ctx context.Context, o object, content map[string]any) error {
	obj := &unstructured.Unstructured{Object: content}
	if content == nil {
		obj.Object = map[string]any{}
	}
	obj.SetAPIVersion(o.resource.GroupVersion().String())
	obj.SetKind(kinds[o.resource])
	obj.SetName(o.name)
	c.ledger.note(o, func(*entry) {})
	created, err := c.of(o).Create(ctx, obj, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating %s: %w", o, err)
	}
	c.ledger.acknowledge(o, func(e *entry) { e.exists, e.uid = true, created.GetUID() })
	return nil
}

var kinds = map[schema.GroupVersionResource]string{
	workspaces:  "Workspace",
	configMaps:  "ConfigMap",
	definitions: "CustomResourceDefinition",
	widgets:     "Widget",
	apiSchemas:  "APIResourceSchema",
	apiExports:  "APIExport",
	apiBindings: "APIBinding",
}

// remove deletes an object.
func (c *client) remove(ctx context.Context, o object) error {
	c.ledger.note(o, func(e *entry) { e.exists = false })
	if err := c.of(o).Delete(ctx, o.name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting %s: %w", o, err)
	}
	c.ledger.acknowledge(o, func(e *entry) { e.gone = true })
	return nil
}

// of returns a client for the resource of an object.
func (p *process) of(o object) dynamic.ResourceInterface {
	resource := p.in(o.workspace, o.resource)
	if o.namespace != "" {
		return resource.Namespace(o.namespace)
	}
	return resource
}

// established says why a definition cannot be used yet.
func (p *process) established(ctx context.Context, o object) error {
	definition, err := p.of(o).Get(ctx, o.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("it is not established: %v", conditions)
}

func widgetDefinition() map[string]any {
	return map[string]any{"spec": map[string]any{
		"group": widgets.Group,
		"scope": "Namespaced",
		"names": map[string]any{"plural": "widgets", "kind": "Widget"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}},
	}}
}
