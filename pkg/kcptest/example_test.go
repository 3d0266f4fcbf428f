package kcptest_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/pkg/kcptest"
)

// A test has a control plane of its own, and a workspace in it.
func ExampleStart() {
	_ = func(t *testing.T) {
		workspace := kcptest.Start(t).Workspace(t)
		client, err := kubernetes.NewForConfig(workspace.Config())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// What is no test starts and stops a control plane by itself, as TestMain does.
func ExampleNew() {
	ctx := context.Background()
	controlPlane, err := kcptest.New(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = controlPlane.Stop() }()

	workspace, err := controlPlane.WorkspaceContext(ctx, kcptest.WithName("acme"), kcptest.WithType("root", "organization"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(workspace.Path())
	// Output: root:acme
}

// Objects are applied in order, and each can be used by the next.
func ExampleWorkspace_ApplyContext() {
	ctx := context.Background()
	controlPlane, err := kcptest.New(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = controlPlane.Stop() }()

	err = controlPlane.Root().ApplyContext(ctx, kcptest.YAML(`
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: opening-hours, namespace: shop}
data: {monday: closed}
`))
	fmt.Println(err)
	// Output: <nil>
}
