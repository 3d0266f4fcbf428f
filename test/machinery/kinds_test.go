package machinery

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// kind is a kind of objects that everything is tried with. What is in value can be any text.
type kind struct {
	name, url, list string
	body            func(name, value string) string
	// path is where the value is.
	path string
}

var (
	// leases are of a built-in kind of which a new workspace has none.
	leases = kind{
		name: "Lease", url: "/apis/coordination.k8s.io/v1/namespaces/default/leases", list: "/apis/coordination.k8s.io/v1/leases", path: "spec.holderIdentity",
		body: func(name, value string) string {
			return fmt.Sprintf(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: %q, labels: {value: %q}}, spec: {holderIdentity: %q}}`, name, value, value)
		},
	}
	widgetKind = kind{
		name: "Widget", url: widgetsURL("v1"), list: "/apis/example.com/v1/widgets", path: "spec.hostPort",
		body: func(name, value string) string {
			return fmt.Sprintf(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: %q, labels: {value: %q}}, spec: {hostPort: %q}}`, name, value, value)
		},
	}
)

// merged returns a merge patch that sets the value.
func (k kind) merged(value string) string {
	if k.name == "Lease" {
		return fmt.Sprintf(`{"metadata":{"labels":{"value":%q}},"spec":{"holderIdentity":%q}}`, value, value)
	}
	return fmt.Sprintf(`{"metadata":{"labels":{"value":%q}},"spec":{"hostPort":%q}}`, value, value)
}

// eachKind runs a test in a workspace of its own with a built-in kind and with a custom one.
// Another workspace has objects of the same names, which it must never show.
func eachKind(t *testing.T, server *servertest.Server, test func(t *testing.T, w *workspace, k kind)) {
	t.Helper()
	for _, k := range []kind{leases, widgetKind} {
		t.Run(k.name, func(t *testing.T) {
			w, other := newWorkspace(t, server), newWorkspace(t, server)
			for _, each := range []*workspace{w, other} {
				each.define(widgets("v1", "{strategy: None}"))
			}
			for _, name := range []string{"a", "b", "c", "item-000", "item-003"} {
				other.must(http.StatusCreated, "POST", k.url, k.body(name, "foreign"))
			}
			test(t, w, k)
		})
	}
}
