package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

// TestStarting: a server that listens already and does not know yet who may do what tells
// nobody that he may not: it asks him to come again.
func TestStarting(t *testing.T) {
	o := options.NewOptions()
	fs := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse([]string{"--root-directory=" + t.TempDir(), "--bind-address=127.0.0.1", "--secure-port=0", servertest.WithUsers(t)}); err != nil {
		t.Fatal(err)
	}
	completed, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	claim, err := launch.Take(t.Context(), completed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := claim.Release(); err != nil {
			t.Error(err)
		}
	}()
	s, err := server.New(t.Context(), claim.Prepared)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", "Bearer user-1-token")
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, r)
		return answer
	}
	const path = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces"
	if answer := get(path); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
		t.Errorf("before the start: want 503 and Retry-After, got %d %v: %s", answer.Code, answer.Header(), answer.Body)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-s.Ready():
	case <-time.After(2 * time.Minute):
		t.Fatal("the server is not ready")
	}
	if answer := get(path); answer.Code != http.StatusOK {
		t.Errorf("after the start: want 200, got %d: %s", answer.Code, answer.Body)
	}
}
