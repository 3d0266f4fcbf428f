package server_test

import (
	"os"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
)

func TestSmoke(t *testing.T) {
	start := time.Now()
	s := servertest.Start(t)
	t.Logf("ready in %s at %s, kubeconfig %s", time.Since(start), s.URL(), s.Kubeconfig)
	if d := os.Getenv("KCP_SMOKE"); d != "" {
		os.WriteFile(d, []byte(s.Kubeconfig), 0o600)
		time.Sleep(time.Hour)
	}
}
