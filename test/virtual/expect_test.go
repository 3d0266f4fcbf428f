package virtual

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

var (
	workspaces      = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}
	serviceaccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	crds            = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	reviews         = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
	policies        = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	policyBindings  = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
)

func newHTTPClient(config *rest.Config) (*http.Client, error) { return rest.HTTPClientFor(config) }

// eventuallyAllowed waits until attempt succeeds: policies and definitions are in force
// some moments after they are written.
func eventuallyAllowed(t *testing.T, attempt func() error) {
	t.Helper()
	servertest.Eventually(t, "it is allowed", func() (bool, any) {
		err := attempt()
		return err == nil, err
	})
}

// eventuallyRefused waits until attempt is refused with a text. It is told how often it
// has been made.
func eventuallyRefused(t *testing.T, attempt func(i int) error, text string) {
	t.Helper()
	i := 0
	servertest.Eventually(t, "it is refused", func() (bool, any) {
		err := attempt(i)
		i++
		return err != nil && strings.Contains(err.Error(), text), err
	})
}

// seen is what a test wants to know of an event.
type seen struct {
	kind          watch.EventType
	cluster, name string
}

// next returns the next event of a watch that is no bookmark.
func next(t *testing.T, w watch.Interface) seen {
	t.Helper()
	return nextOf(t, w, func(e watch.Event) bool { return e.Type != watch.Bookmark })
}

func nextOf(t *testing.T, w watch.Interface, wanted func(watch.Event) bool) seen {
	t.Helper()
	deadline := time.After(servertest.Patience)
	for {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				t.Fatal("the watch has ended")
			}
			if !wanted(event) {
				continue
			}
			accessor, err := meta.Accessor(event.Object)
			if err != nil {
				t.Fatalf("an event of %v", event.Object)
			}
			return seen{event.Type, accessor.GetAnnotations()["kcp.io/cluster"], accessor.GetName()}
		case <-deadline:
			t.Fatal("no event")
		}
	}
}
