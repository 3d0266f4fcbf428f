package lifecycle

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const mergePatch = types.MergePatchType

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks that a request was refused with a code, and with texts in its message.
func wantCode(t testing.TB, err error, code int32, texts ...string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want %d", err, code)
	}
	if got := status.Status().Code; got != code {
		t.Fatalf("got %d %v, want %d", got, err, code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got %q, want %q in it", err, text)
		}
	}
}

// clusterOf returns the cluster of an object.
func clusterOf(object metav1.Object) string { return object.GetAnnotations()["kcp.io/cluster"] }

// listed says whether a list of a client has the LogicalCluster of a cluster.
func listed(t testing.TB, client dynamic.ResourceInterface, cluster string, options metav1.ListOptions) bool {
	t.Helper()
	list, err := client.List(t.Context(), options)
	must(t, err)
	return contains(list, cluster)
}

func contains(list *unstructured.UnstructuredList, cluster string) bool {
	for i := range list.Items {
		if clusterOf(&list.Items[i]) == cluster {
			return true
		}
	}
	return false
}

// watchFrom watches from where a list ends.
func watchFrom(t testing.TB, client dynamic.ResourceInterface, options metav1.ListOptions) watch.Interface {
	t.Helper()
	list, err := client.List(t.Context(), options)
	must(t, err)
	options.ResourceVersion = list.GetResourceVersion()
	return watching(t, client, options)
}

func watching(t testing.TB, client dynamic.ResourceInterface, options metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := client.Watch(t.Context(), options)
	must(t, err)
	t.Cleanup(w.Stop)
	return w
}

// next returns the next event of a watch that concerns a cluster, or any for "".
func next(t testing.TB, w watch.Interface, cluster string) watch.Event {
	t.Helper()
	return nextOf(t, w, func(event watch.Event) bool {
		accessor, err := meta.Accessor(event.Object)
		return err == nil && event.Type != watch.Bookmark && (cluster == "" || clusterOf(accessor) == cluster)
	})
}

// nextOf returns the next event of a watch that is wanted.
func nextOf(t testing.TB, w watch.Interface, wanted func(watch.Event) bool) watch.Event {
	t.Helper()
	deadline := time.After(servertest.Patience)
	for {
		select {
		case event, ok := <-w.ResultChan():
			switch {
			case !ok:
				t.Fatal("the watch has ended")
			case event.Type == watch.Error:
				t.Fatalf("the watch has ended: %v", event.Object)
			case wanted(event):
				return event
			}
		case <-deadline:
			t.Fatal("no event")
		}
	}
}

// patch patches the status of a LogicalCluster.
func patch(t testing.TB, client dynamic.ResourceInterface, kind types.PatchType, data string) (*unstructured.Unstructured, error) {
	t.Helper()
	return client.Patch(t.Context(), corev1alpha1.LogicalClusterName, kind, []byte(data), metav1.PatchOptions{FieldManager: "test"}, "status")
}

// answer is what a server has answered.
type answer struct {
	code int
	body string
	kind string
}

// send makes a request of a user for a path, spelled as it is.
func (s *suite) send(t testing.TB, token, method, path, body string, headers map[string]string) answer {
	t.Helper()
	config := s.server.As(t, token, "root")
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, s.server.URL()+path, strings.NewReader(body))
	must(t, err)
	for key, value := range headers {
		req.Header.Set(key, value)
	}
	response, err := client.Do(req)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{code: response.StatusCode, body: string(content), kind: response.Header.Get("Content-Type")}
}
