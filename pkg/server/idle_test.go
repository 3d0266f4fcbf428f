package server_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/inprocess"
	"github.com/forkless/kcp/internal/servertest"
)

// TestIdleStop: a server stops by itself when nobody uses it, and not while somebody
// watches.
func TestIdleStop(t *testing.T) {
	const limit = 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	running, err := inprocess.Start(ctx, filepath.Join(t.TempDir(), ".kcp"), "--in-memory", "--idle-stop="+limit.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := running.Stop(); err != nil {
			t.Errorf("stopping by itself is an error: %v", err)
		}
	}()
	config, err := clientcmd.BuildConfigFromFlags("", running.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-running.Done():
		t.Error("the server has stopped although somebody watches")
	case <-time.After(4 * limit):
	}
	w.Stop()
	select {
	case <-running.Done():
	case <-ctx.Done():
		t.Error("the server goes on although nobody uses it")
	}
}
