package server_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
)

// TestStopEndsWatches: a forgotten `kubectl get -w` must not keep the server from
// stopping until its watch runs out.
func TestStopEndsWatches(t *testing.T) {
	s := servertest.Start(t)
	client, err := dynamic.NewForConfig(s.In(t, "base", "root"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	began := time.Now()
	s.Stop()
	// Requests are waited for a minute.
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("stopping took %s", took)
	}
}
