package machinery

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	asJSON  = "application/json"
	asYAML  = "application/yaml"
	proto   = "application/vnd.kubernetes.protobuf"
	merge   = "application/merge-patch+json"
	jsonOps = "application/json-patch+json"
	smart   = "application/strategic-merge-patch+json"
	apply   = "application/apply-patch+yaml"

	definitionsURL = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// workspace is a workspace and a client that sends what it is told, unchanged.
type workspace struct {
	t      testing.TB
	config *rest.Config
	client *http.Client
	// cluster is the name of its logical cluster.
	cluster string
}

// newWorkspace makes a workspace in root.
func newWorkspace(t testing.TB, server *servertest.Server) *workspace {
	t.Helper()
	return connect(t, server, server.Workspace(t, "root", "").Spec.Cluster)
}

// connect returns a workspace that exists.
func connect(t testing.TB, server *servertest.Server, cluster string) *workspace {
	t.Helper()
	config := server.In(t, "base", cluster)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &workspace{t: t, config: config, client: client, cluster: cluster}
}

// in returns the workspace for the use of a part of the test.
func (w *workspace) in(t testing.TB) *workspace {
	other := *w
	other.t = t
	return &other
}

// header is a header of a request.
type header struct{ key, value string }

func contentType(value string) header { return header{"Content-Type", value} }
func accept(value string) header      { return header{"Accept", value} }

// answer is an answer; object is its body if that is an object.
type answer struct {
	code   int
	header http.Header
	body   string
	object *unstructured.Unstructured
}

func (a answer) String() string {
	const enough = 2000
	if len(a.body) > enough {
		return fmt.Sprintf("%d %s…", a.code, a.body[:enough])
	}
	return fmt.Sprintf("%d %s", a.code, a.body)
}

// field returns the value at path, separated by dots, as it prints; "<nil>" if there is none.
func (a answer) field(path string) string { return field(a.object, path) }

func field(u *unstructured.Unstructured, path string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	return fmt.Sprint(value)
}

// items returns the objects of a list.
func (a answer) items() []unstructured.Unstructured {
	list, err := a.object.ToList()
	if err != nil {
		return nil
	}
	return list.Items
}

// names returns the names of the objects of a list.
func (a answer) names() string {
	var names []string
	for _, item := range a.items() {
		names = append(names, item.GetName())
	}
	return strings.Join(names, " ")
}

// status returns the body as a Status.
func (a answer) status() metav1.Status {
	status := metav1.Status{}
	_ = json.Unmarshal([]byte(a.body), &status)
	return status
}

// try sends a request. A body is YAML unless a header says otherwise.
func (w *workspace) try(ctx context.Context, method, path, body string, headers ...header) (answer, error) {
	resp, err := w.open(ctx, method, path, body, headers...)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	result := answer{code: resp.StatusCode, header: resp.Header, body: string(data), object: &unstructured.Unstructured{}}
	_ = json.Unmarshal(data, &result.object.Object)
	return result, nil
}

func (w *workspace) open(ctx context.Context, method, path, body string, headers ...header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.config.Host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", asYAML)
	}
	req.Header.Set("Accept", asJSON)
	for _, h := range headers {
		req.Header.Set(h.key, h.value)
	}
	return w.client.Do(req)
}

func (w *workspace) do(method, path, body string, headers ...header) answer {
	w.t.Helper()
	a, err := w.try(w.t.Context(), method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// must is do for requests that have to be answered with code.
func (w *workspace) must(code int, method, path, body string, headers ...header) answer {
	w.t.Helper()
	a := w.do(method, path, body, headers...)
	if a.code != code {
		w.t.Fatalf("%s %s: got %s, want %d", method, path, a, code)
	}
	return a
}

// refused is must for requests that have to be answered with a Status whose message has
// says in it.
func (w *workspace) refused(code int, reason metav1.StatusReason, says, method, path, body string, headers ...header) answer {
	w.t.Helper()
	a := w.must(code, method, path, body, headers...)
	status := a.status()
	if status.Kind != "Status" || status.Reason != reason || !strings.Contains(status.Message, says) {
		w.t.Errorf("%s %s: got %s, want a Status with reason %q that says %q", method, path, a, reason, says)
	}
	return a
}

// define creates a definition and waits until it is established.
func (w *workspace) define(definition string) answer {
	w.t.Helper()
	created := w.must(http.StatusCreated, http.MethodPost, definitionsURL, definition)
	return w.established(created.object.GetName())
}

func (w *workspace) established(name string) answer {
	w.t.Helper()
	var latest answer
	servertest.Eventually(w.t, name+" is established", func() (bool, any) {
		latest = w.must(http.StatusOK, http.MethodGet, definitionsURL+"/"+name, "")
		return w.condition(latest, apiextensionsv1.Established) == "True", latest
	})
	return latest
}

// condition returns the status of a condition of a definition.
func (w *workspace) condition(of answer, name apiextensionsv1.CustomResourceDefinitionConditionType) string {
	conditions, _, _ := unstructured.NestedSlice(of.object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == string(name) {
			return fmt.Sprint(c["status"])
		}
	}
	return ""
}

// event is an event of a watch.
type event struct {
	Type   string
	Object unstructured.Unstructured
}

func (e event) String() string { return strings.TrimSpace(e.Type + " " + e.Object.GetName()) }

// watch returns the events of a watch, which ends with the test.
func (w *workspace) watch(path string, headers ...header) *stream {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	resp, err := w.open(ctx, http.MethodGet, path, "", headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("watching %s: %d %s", path, resp.StatusCode, body)
	}
	s := &stream{t: w.t, path: path, events: make(chan event, 100), stop: cancel}
	go func() {
		defer close(s.events)
		defer func() { _ = resp.Body.Close() }()
		decoder := json.NewDecoder(bufio.NewReader(resp.Body))
		for {
			var read struct {
				Type   string          `json:"type"`
				Object json.RawMessage `json:"object"`
			}
			if decoder.Decode(&read) != nil {
				return
			}
			next := event{Type: read.Type}
			if json.Unmarshal(read.Object, &next.Object.Object) != nil {
				return
			}
			select {
			case s.events <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// stream is a watch under way.
type stream struct {
	t      testing.TB
	path   string
	events chan event
	stop   func()
}

// next returns the next event, one of type "end" when there are no more.
func (s *stream) next() event {
	s.t.Helper()
	select {
	case e, ok := <-s.events:
		if !ok {
			return event{Type: "end"}
		}
		return e
	case <-time.After(servertest.Patience):
		s.t.Fatalf("%s: no event within %s", s.path, servertest.Patience)
		return event{}
	}
}

// expect compares the next events, but for bookmarks, with what is wanted.
func (s *stream) expect(want ...string) {
	s.t.Helper()
	for _, w := range want {
		e := s.next()
		for e.Type == "BOOKMARK" {
			e = s.next()
		}
		if e.String() != w {
			s.t.Fatalf("%s: event %q, want %q (%v)", s.path, e, w, e.Object.Object)
		}
	}
}
