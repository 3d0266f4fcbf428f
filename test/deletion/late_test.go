package deletion

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// lateWrite: a request that was let in while its workspace was there, and comes to write
// when that is gone, writes nothing. Whoever sends the body of a request slowly decides
// how much later that is.
func lateWrite(t *testing.T, server *servertest.Server) []string {
	ws := server.Workspace(t, "root", "late-write")
	body, answer := slowly(t, server.In(t, "base", ws.Spec.Cluster), "/apis/rbac.authorization.k8s.io/v1/clusterroles")
	send(t, body, `{"metadata":`)
	// A request that comes later, and on a way of its own, has been answered: the first
	// one waits for its body by now.
	if _, err := clientOf(t, server, ws.Spec.Cluster).Discovery().ServerVersion(); err != nil {
		t.Fatal(err)
	}

	remove(t, server, "root", "late-write")
	// The server may have answered already.
	_, _ = io.WriteString(body, `{"name":"late"},"rules":[]}`)
	_ = body.Close()
	if got := <-answer; !strings.HasPrefix(got, "403 ") && !strings.HasPrefix(got, "404 ") {
		t.Errorf("a write to a workspace that is gone is answered with %s", got)
	}
	return []string{ws.Spec.Cluster}
}

// slowly posts a body to a path, as it is written. The answer comes when it comes.
func slowly(t *testing.T, config *rest.Config, path string) (body *io.PipeWriter, answer <-chan string) {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport, Timeout: servertest.Patience}
	read, write := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+path, read)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answers := make(chan string, 1)
	go func() { answers <- do(client, request) }()
	return write, answers
}

func do(client *http.Client, request *http.Request) string {
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, data)
}

func send(t *testing.T, body io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(body, text); err != nil {
		t.Fatal(err)
	}
}

// heldByOthers: somebody else's finalizer keeps the LogicalCluster when all is gone, there
// are writes since, and it goes as soon as that finalizer does, without the server.
func heldByOthers(t *testing.T, server *servertest.Server) (gone []string) {
	s := &suite{t, server}
	for round := range rounds {
		ws := server.Workspace(t, "root", fmt.Sprintf("held-by-others-%d", round))
		s.patch(s.clusters(ws), corev1alpha1.LogicalClusterName, finalizers("example.com/inner"))
		s.delete("root", ws.Name)
		s.until("root", ws.Name, "all is gone but what is held", func(ws *tenancyv1alpha1.Workspace) bool {
			return conditions.IsTrue(ws, corev1alpha1.WorkspaceContentDeleted)
		})
		client := clientOf(t, server, ws.Spec.Cluster)
		stop := during(t, func(ctx context.Context) { writeOnce(ctx, client) })
		s.patch(s.clusters(ws), corev1alpha1.LogicalClusterName, finalizers())
		s.gone("root", ws.Name)
		stop()
		gone = append(gone, ws.Spec.Cluster)
	}
	return gone
}
