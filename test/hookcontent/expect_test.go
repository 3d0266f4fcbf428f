package hookcontent

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks that a request was refused with a code, and with texts in its message.
func wantCode(t *testing.T, err error, code int32, texts ...string) {
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

// answer is what a server has answered.
type answer struct {
	code int
	body string
	kind string
}

// check checks an answer that is a refusal in plain text.
func (a answer) check(t *testing.T, code int, texts ...string) {
	t.Helper()
	if a.code != code || !strings.HasPrefix(a.kind, "text/plain") {
		t.Errorf("got %d %s %s, want %d in plain text", a.code, a.kind, a.body, code)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("got %q, want %q in it", a.body, text)
		}
	}
}

// send makes a request of a user for a path, spelled as it is.
func (s *suite) send(t *testing.T, token, method, path, body string, headers map[string]string) answer {
	t.Helper()
	return send(t, s.server.As(t, token, "root"), s.server.URL()+path, method, body, headers)
}

func send(t *testing.T, config *rest.Config, url, method, body string, headers map[string]string) answer {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
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

// ended waits until a watch ends, and does not wait for anything else.
func ended(t *testing.T, w watch.Interface) {
	t.Helper()
	deadline := time.After(servertest.Patience)
	for {
		select {
		case _, ok := <-w.ResultChan():
			if !ok {
				return
			}
		case <-deadline:
			t.Fatal("the watch goes on")
		}
	}
}

// sees waits until a watch shows an object of that name.
func sees(t *testing.T, w watch.Interface, name string) {
	t.Helper()
	deadline := time.After(servertest.Patience)
	for {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				t.Fatal("the watch has ended")
			}
			if cm, isConfigMap := event.Object.(*corev1.ConfigMap); isConfigMap && cm.Name == name {
				return
			}
		case <-deadline:
			t.Fatalf("the watch does not show %s", name)
		}
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "work"}}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "work"}}
}
