package footprint

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	// objects is how many custom resources a workspace gets.
	objects = 20
	// heapGrowth bounds what churn may leave on the heap, in bytes. It is not nothing: the
	// watch caches remember the events of the last 75 seconds, however many these are.
	// moreGrowth bounds what as much churn again may add to that.
	heapGrowth = 64 << 20
	moreGrowth = 24 << 20
	// warmUp is how many workspaces it takes until everything is made that exists once.
	warmUp = 40
)

// TestChurn: workspaces come, are used and go, and the server is as it was.
func TestChurn(t *testing.T) {
	cycles := 100
	if long {
		cycles = 2000
	}
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	_, in := administrator(t, server)
	churn(t, in, "first", warmUp)
	server.Stop()
	keys := keysIn(t, root)

	// What etcd remembers of the past it remembers until it is compacted, and that would
	// be minutes.
	server = servertest.StartIn(t, root, "--etcd-compaction-interval=5s")
	atRest := resting(t)
	client, in := administrator(t, server)
	churn(t, in, "warm", warmUp)
	before := measure(t, server, client, atRest, "churn")
	started := time.Now()
	churn(t, in, "half", cycles/2)
	half := measure(t, server, client, atRest, "churn")
	churn(t, in, "rest", cycles/2)
	took := time.Since(started)
	after := measure(t, server, client, atRest, "churn")
	t.Logf("%d workspaces with %d objects each came and went in %s, %.1f/s", cycles, objects, took.Round(time.Millisecond), float64(cycles)/took.Seconds())
	t.Logf("before: %s", before)
	t.Logf("half:   %s", half)
	t.Logf("after:  %s", after)

	checkSeries(t, before, after)
	if after.heap > before.heap+heapGrowth {
		t.Errorf("the heap has grown by %.1f MB", float64(after.heap-before.heap)/(1<<20))
	}
	if after.heap > half.heap+moreGrowth {
		t.Errorf("the heap has grown by %.1f MB in the second half", float64(after.heap-half.heap)/(1<<20))
	}
	server.Stop()
	if diff := cmp.Diff(keys, keysIn(t, root)); diff != "" {
		t.Errorf("keys in etcd before (-) and after (+): %s", diff)
	}
}

// keysIn returns the keys in the etcd of a server that has been stopped.
func keysIn(t *testing.T, root string) (keys []string) {
	t.Helper()
	// A test of its own, so that etcd ends with it.
	t.Run("keys", func(t *testing.T) {
		var err error
		if keys, err = servertest.OpenEtcd(t, filepath.Join(root, "etcd-server")).Keys("/registry/"); err != nil {
			t.Fatal(err)
		}
	})
	return keys
}

// churn makes workspaces in root, several at a time, uses each and deletes it. Every
// other one has an API that no other has.
func churn(t *testing.T, in func(string) access, name string, cycles int) {
	t.Helper()
	inParallel(t, cycles, func(ctx context.Context, i int) error {
		group := "churn.example.com"
		if i%2 == 0 {
			group = fmt.Sprintf("churn-%s-%d.example.com", name, i)
		}
		if err := cycle(ctx, in, fmt.Sprintf("%s-%d", name, i), group); err != nil {
			return fmt.Errorf("workspace %s-%d: %w", name, i, err)
		}
		return nil
	})
}

// cycle is the life of one workspace.
func cycle(ctx context.Context, in func(string) access, name, group string) error {
	root := in("root")
	made := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := servertest.CreateWorkspace(ctx, root.config, made); err != nil {
		return err
	}
	if err := use(ctx, in("root:"+name), group); err != nil {
		return err
	}
	dynamics, err := dynamic.NewForConfigAndClient(root.config, root.client)
	if err != nil {
		return err
	}
	parents := dynamics.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	if err := parents.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		_, err := parents.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// use defines an API in a workspace and makes objects of it.
func use(ctx context.Context, workspace access, group string) error {
	definitions, err := apiextensions.NewForConfigAndClient(workspace.config, workspace.client)
	if err != nil {
		return err
	}
	crds := definitions.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := crds.Create(ctx, gadgets(group), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	err = eventually(ctx, func() (bool, error) {
		crd, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		return err == nil && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established), err
	})
	if err != nil {
		return err
	}
	dynamics, err := dynamic.NewForConfigAndClient(workspace.config, workspace.client)
	if err != nil {
		return err
	}
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
	for i := range objects {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group + "/v1", "kind": "Gadget",
			"metadata": map[string]any{"name": fmt.Sprintf("gadget-%d", i)},
			"spec":     map[string]any{"text": "something"},
		}}
		// The store of a new API may still be opening: clients try again.
		err := eventually(ctx, func() (bool, error) {
			_, err := dynamics.Resource(resource).Namespace("default").Create(ctx, object, metav1.CreateOptions{})
			if apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func eventually(ctx context.Context, condition func() (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition() })
}

func gadgets(group string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"text": {Type: "string"}}},
					},
				}},
			}},
		},
	}
}
