package request

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Denied refuses the request with a Forbidden Status. The text says what was wrong and
// what to do about it.
func Denied(a admission.Attributes, format string, args ...any) error {
	return admission.NewForbidden(a, fmt.Errorf(format, args...))
}

// Failed turns an error of a reader into a Status. What the request is to blame for
// (tenancy.IsUnresolved) is Forbidden; a Status stays what it is, except NotFound,
// which would read as if the object of the request were missing; the rest could not be
// found out and may be tried again.
func Failed(a admission.Attributes, err error) error {
	var status *apierrors.StatusError
	switch {
	case tenancy.IsUnresolved(err):
		return admission.NewForbidden(a, err)
	case errors.As(err, &status) && !apierrors.IsNotFound(err):
		return status
	default:
		return apierrors.NewServiceUnavailable(err.Error())
	}
}

// Cluster returns the logical cluster of a request.
func Cluster(ctx context.Context) (logicalcluster.Name, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return cluster, apierrors.NewInternalError(err)
	}
	return cluster, nil
}
