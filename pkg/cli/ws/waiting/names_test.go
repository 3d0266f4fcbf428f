package waiting

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/cli/client"
)

// TestNames holds that hooks are called by the paths of their types, as far as these may be
// read, and that nothing is asked twice.
func TestNames(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/clusters/1abc/") {
			_, _ = w.Write([]byte(`{"metadata": {"name": "team", "annotations": {"kcp.io/cluster": "1abc", "kcp.io/path": "root:acme"}}}`))
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}`))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(&rest.Config{}, server.URL, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	names := NewNames(c)
	for range 2 {
		got := names.In(t.Context(), State{
			Initializers: []string{"system:apibindings", "1abc:team", "2def:hidden"}, Terminators: []string{"1abc:team"},
		})
		want := State{
			Initializers: []string{"system:apibindings", "root:acme:team", "2def:hidden"}, Terminators: []string{"root:acme:team"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if len(asked) != 2 {
		t.Errorf("each type is read once, but %v was asked for", asked)
	}
}
