package storage

import (
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
)

// refusal returns err as clients should see it. Upstream passes some errors on as they
// are that are about what the client asked for; it would see an internal error.
func refusal(err error) error {
	var full LimitReached
	switch {
	case err == nil:
		return nil
	case storage.IsInvalidError(err):
		// Lists say the same in these words.
		return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
	case errors.Is(err, storage.ErrResourceVersionSetOnCreate):
		return refused{apierrors.NewBadRequest(err.Error()), storage.ErrResourceVersionSetOnCreate}
	case errors.Is(err, errNoAnchor):
		return apierrors.NewForbidden(schema.GroupResource{}, "", errNoAnchor)
	case errors.As(err, &full):
		return apierrors.NewForbidden(full.resource, full.name, full)
	case isTooLarge(err):
		return apierrors.NewRequestEntityTooLargeError("the object is larger than can be stored")
	default:
		return err
	}
}

// refused is an error for clients that callers inside still know by its cause.
type refused struct {
	*apierrors.StatusError
	cause error
}

// Unwrap returns the cause.
func (r refused) Unwrap() error { return r.cause }

// isTooLarge says whether etcd, or the client of an etcd outside, would not take a value
// for its size.
func isTooLarge(err error) bool {
	if etcdError := (rpctypes.EtcdError{}); errors.As(err, &etcdError) {
		return etcdError.Error() == rpctypes.ErrRequestTooLarge.Error()
	}
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.ResourceExhausted && strings.Contains(s.Message(), "message larger than max")
}

// checkSegments refuses keys that etcd would have no objects below: a namespace or name
// that is a step in a path. Nothing can be read or written through them, but they would
// be internal errors further down.
func checkSegments(key string) error {
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "." || segment == ".." {
			return apierrors.NewBadRequest(fmt.Sprintf("invalid key: %q must not be part of it", segment))
		}
	}
	return nil
}
