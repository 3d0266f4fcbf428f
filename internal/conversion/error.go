package conversion

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Error says that an object cannot be converted. To who reads the object it is an internal
// error: that of the rules. Who writes it is told that it is invalid, see Refusal.
type Error struct {
	Kind            schema.GroupKind
	Namespace, Name string
	// From and To are the versions.
	From, To string
	// Destination is where the value was to go, Expression how it was to be made; empty
	// if there is none.
	Destination, Expression string
	Err                     error
}

func newError(u *unstructured.Unstructured, from, to string, rule *rule, err error) *Error {
	e := &Error{
		Kind: u.GroupVersionKind().GroupKind(), Namespace: u.GetNamespace(), Name: u.GetName(),
		From: from, To: to, Err: err,
	}
	if rule != nil {
		e.Destination = rule.destination.String()
		if rule.expression != nil {
			e.Expression = rule.expression.source
		}
	}
	return e
}

// Error says all of it in a line.
func (e *Error) Error() string {
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	return fmt.Sprintf("converting %s %q from %s to %s: %s", e.Kind, name, e.From, e.To, e.reason())
}

func (e *Error) reason() string {
	switch {
	case e.Expression != "":
		return fmt.Sprintf("rule for %s, expression %q: %v", e.Destination, e.Expression, e.Err)
	case e.Destination != "":
		return fmt.Sprintf("rule for %s: %v", e.Destination, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Status is how who reads the object is told.
func (e *Error) Status() metav1.Status {
	return metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Reason:  metav1.StatusReasonInternalError,
		Message: e.Error(),
		Details: &metav1.StatusDetails{
			Group: e.Kind.Group, Kind: e.Kind.Kind, Name: e.Name,
			Causes: []metav1.StatusCause{{Message: e.reason(), Field: e.Destination}},
		},
	}
}

// Refusal is how who writes the object is told.
func (e *Error) Refusal() error {
	var path *field.Path
	if e.Destination != "" {
		path = field.NewPath(e.Destination)
	}
	return apierrors.NewInvalid(e.Kind, e.Name, field.ErrorList{
		field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("cannot be converted from %s to %s: %s", e.From, e.To, e.reason())),
	})
}

var _ apierrors.APIStatus = (*Error)(nil)
