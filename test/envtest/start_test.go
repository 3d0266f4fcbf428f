package envtest

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestStart says how long it takes until a test can begin.
func TestStart(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS does not say which programs are to be started: see the target test-envtest")
	}
	for range 3 {
		environment := &envtest.Environment{}
		began := time.Now()
		if _, err := environment.Start(); err != nil {
			t.Fatal(err)
		}
		started := time.Since(began)
		if err := environment.Stop(); err != nil {
			t.Fatal(err)
		}
		t.Logf("started in %s, stopped in %s", started, time.Since(began)-started)
	}
}
