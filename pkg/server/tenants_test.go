package server_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestShardsCannotBeDefined tells the story of a workspace that defines shards, which
// only root has, as something else. Its objects got into the store of the real ones, and
// one of them that was no Shard kept the whole server from ever being ready again.
func TestShardsCannotBeDefined(t *testing.T) {
	root := t.TempDir()
	s := servertest.StartIn(t, root)
	s.Workspace(t, "root", "tenant")
	config := s.In(t, "base", "root:tenant")
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "shards.core.kcp.io"},
		"spec": map[string]any{
			"group": "core.kcp.io", "scope": "Cluster",
			"names": map[string]any{"plural": "shards", "singular": "shard", "kind": "Shard", "listKind": "ShardList"},
			"versions": []any{map[string]any{
				"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	if _, err := client.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the names are refused", func() (bool, any) {
		got, err := client.Resource(definitions).Get(t.Context(), "shards.core.kcp.io", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		for _, c := range conditions {
			condition, _ := c.(map[string]any)
			if condition["type"] == "NamesAccepted" {
				return condition["status"] == "False", conditions
			}
		}
		return false, conditions
	})
	s.Stop()
	servertest.StartIn(t, root)
}
