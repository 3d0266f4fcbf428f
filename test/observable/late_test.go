package observable

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// lateWrite: a request that was let in while its workspace was there and is written when
// it is gone leaves nothing behind. Whoever sends the body of a request slowly decides
// how much later that is.
func (s *suite) lateWrite(t *testing.T) {
	org := s.organization(t)
	ws := s.Workspace(t, org, "ws")
	parent := s.in(t, admin, org)
	config := s.In(t, "base", ws.Spec.Cluster)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport, Timeout: servertest.Patience}
	body, write := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/apis/rbac.authorization.k8s.io/v1/clusterroles", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer := make(chan string, 1)
	go func() {
		response, err := client.Do(request)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		data, _ := io.ReadAll(response.Body)
		answer <- response.Status + " " + string(data)
	}()
	if _, err := io.Copy(write, strings.NewReader(`{"metadata":`)); err != nil {
		t.Fatal(err)
	}
	// The request is under way; that it has been authorized is not to be seen from here.
	_ = s.in(t, admin, ws.Spec.Cluster).list(t, "ClusterRole")
	time.Sleep(300 * time.Millisecond)

	parent.must(t, parent.delete(t, "Workspace", "ws"))
	parent.gone(t, "Workspace", "ws")
	_, _ = io.Copy(write, strings.NewReader(`{"name":"late"},"rules":[]}`))
	_ = write.Close()
	code := <-answer
	t.Logf("the late write is answered with %s", code)

	system := s.in(t, privileged, ws.Spec.Cluster)
	equal(t, "cluster roles that are left in the cluster", "", text(system.must(t, system.list(t, "ClusterRole")), "names"))
}
