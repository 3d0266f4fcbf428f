// Package admissiontest makes requests for tests of admission plugins: as the server
// makes them, with unstructured objects and the logical cluster in the context.
package admissiontest

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Request is a request to admit.
type Request struct {
	// Resource and Kind of the object, with their group and version.
	Resource schema.GroupVersionResource
	Kind     string
	// Subresource is empty for the object itself.
	Subresource string
	// Operation is what is done.
	Operation admission.Operation
	// Object and Old are the new and the stored object.
	Object, Old runtime.Object
	// Namespace and Name are those of the URL.
	Namespace, Name string
	// User is who does it, User() if nil.
	User user.Info
}

// User returns a user in the given groups.
func User(groups ...string) user.Info {
	return &user.DefaultInfo{Name: "alice", UID: "1", Groups: append([]string{user.AllAuthenticated}, groups...)}
}

// Masters returns a privileged user.
func Masters() user.Info { return User(user.SystemPrivilegedGroup) }

// Attributes returns what plugins see of the request.
func (r Request) Attributes() admission.Attributes {
	caller := r.User
	if caller == nil {
		caller = User()
	}
	return admission.NewAttributesRecord(r.Object, r.Old, r.Resource.GroupVersion().WithKind(r.Kind),
		r.Namespace, r.Name, r.Resource, r.Subresource, r.Operation, nil, false, caller)
}

// In returns a context in a logical cluster.
func In(t testing.TB, cluster logicalcluster.Name) context.Context {
	t.Helper()
	return logicalcluster.NewContext(t.Context(), cluster)
}

// Unstructured returns obj as the server hands it to plugins.
func Unstructured(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	// Empty here means that the zero times and structs are gone, as on the wire.
	u := &unstructured.Unstructured{Object: content}
	if m, err := meta.Accessor(obj); err == nil && m.GetCreationTimestamp().Time.IsZero() {
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	}
	return u
}

// Check fails the test unless err is what was expected: nil for no want, otherwise a
// Forbidden Status that contains want.
func Check(t *testing.T, reason string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Fatalf("%s: refused: %v", reason, err)
	case want != "" && !apierrors.IsForbidden(err):
		t.Fatalf("%s: got error %v, want Forbidden with %q", reason, err, want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Fatalf("%s: got error %q, want one with %q", reason, err, want)
	}
}

// Grants is an authorizer that allows what is listed, as
// "<cluster> <verb> <resource>/<name>".
type Grants []string

// AllowedIn says whether attributes are listed for cluster.
func (g Grants) AllowedIn(_ context.Context, cluster logicalcluster.Name, attributes authorizer.Attributes) (bool, error) {
	asked := cluster.String() + " " + attributes.GetVerb() + " " + attributes.GetResource() + "/" + attributes.GetName()
	return slices.Contains(g, asked), nil
}
