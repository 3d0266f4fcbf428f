package apis

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

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
)

// Users of servertest, by token.
const (
	alice, aliceName = "user-1-token", "user-1"
	bob, bobName     = "user-2-token", "user-2"
	// master is beyond all authorization.
	master = "admin-token"
)

// caller is a user in a workspace.
type caller struct {
	t    *testing.T
	url  string
	http *http.Client
}

func as(t *testing.T, server *servertest.Server, token, workspace string) caller {
	t.Helper()
	config := server.As(t, token, workspace)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return caller{t: t, url: config.Host, http: client}
}

// answer is what a request has brought; object is its body if that is an object.
type answer struct {
	code   int
	body   string
	object *unstructured.Unstructured
}

// field returns the value at path as YAML in one line, "null" if there is none.
func (a answer) field(path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(a.object.Object, path...)
	data, _ := json.Marshal(value)
	return string(data)
}

// do sends a YAML body. PATCH is a merge patch, APPLY a server-side apply.
func (c caller) do(method, path, body string) answer {
	c.t.Helper()
	contentType := "application/yaml"
	switch method {
	case "PATCH":
		contentType = "application/merge-patch+json"
		data, err := yaml.YAMLToJSON([]byte(body))
		if err != nil {
			c.t.Fatal(err)
		}
		body = string(data)
	case "APPLY":
		method, contentType = "PATCH", "application/apply-patch+yaml"
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	result := answer{code: resp.StatusCode, body: string(data), object: &unstructured.Unstructured{}}
	// Not encoding/json's, which makes numbers of all kinds the same.
	_ = utiljson.Unmarshal(data, &result.object.Object)
	return result
}

// must is do for requests that have to be answered with code, and with words in the body.
func (c caller) must(code int, method, path, body string, words ...string) answer {
	c.t.Helper()
	a := c.do(method, path, body)
	if a.code != code {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, a.code, code, a.body)
	}
	text := strings.ReplaceAll(a.body, `\"`, `"`)
	for _, word := range words {
		if !strings.Contains(text, word) {
			c.t.Errorf("%s %s: %q is not in %s", method, path, word, text)
		}
	}
	return a
}

// eventually sends a request until it is answered with code.
func (c caller) eventually(code int, method, path, body string) answer {
	c.t.Helper()
	var a answer
	servertest.Eventually(c.t, method+" "+path, func() (bool, any) {
		a = c.do(method, path, body)
		return a.code == code, a.body
	})
	return a
}

// update changes an object as it is now, without anybody in between.
func (c caller) update(code int, path string, change func(u *unstructured.Unstructured), words ...string) answer {
	c.t.Helper()
	var a answer
	servertest.Eventually(c.t, "PUT "+path, func() (bool, any) {
		current := c.must(http.StatusOK, "GET", strings.TrimSuffix(path, "/status"), "")
		change(current.object)
		data, err := json.Marshal(current.object.Object)
		if err != nil {
			c.t.Fatal(err)
		}
		a = c.do("PUT", path, string(data))
		return a.code != http.StatusConflict, a.body
	})
	if a.code != code {
		c.t.Fatalf("PUT %s: got %d, want %d: %s", path, a.code, code, a.body)
	}
	for _, word := range words {
		if !strings.Contains(strings.ReplaceAll(a.body, `\"`, `"`), word) {
			c.t.Errorf("PUT %s: %q is not in %s", path, word, a.body)
		}
	}
	return a
}

// watch returns the objects that a watch from now on tells of.
func (c caller) watch(path string) func() (event string, object unstructured.Unstructured) {
	c.t.Helper()
	list := c.must(http.StatusOK, "GET", path, "")
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	c.t.Cleanup(cancel)
	url := fmt.Sprintf("%s%s?watch=true&resourceVersion=%s", c.url, path, strings.Trim(list.field("metadata", "resourceVersion"), `"`))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() (string, unstructured.Unstructured) {
		c.t.Helper()
		if !lines.Scan() {
			c.t.Fatalf("watching %s: %v", path, lines.Err())
		}
		var event struct {
			Type   string
			Object map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			c.t.Fatal(err)
		}
		return event.Type, unstructured.Unstructured{Object: event.Object}
	}
}

// equal compares what is at path with YAML.
func equal(t *testing.T, reason, want string, a answer, path ...string) {
	t.Helper()
	value, _, _ := unstructured.NestedFieldNoCopy(a.object.Object, path...)
	got, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var parsed any
	if err := yaml.Unmarshal([]byte(want), &parsed); err != nil {
		t.Fatal(err)
	}
	formatted, err := yaml.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(formatted), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}
