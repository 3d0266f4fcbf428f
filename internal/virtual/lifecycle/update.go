package lifecycle

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	storeerrors "k8s.io/apiserver/pkg/storage/errors"

	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// status is the status of what waits for a hook.
type status struct {
	rest.Patcher
	waiting   *waiting
	workspace *Workspace
}

// Get implements rest.Patcher.
func (s *status) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.waiting.Get(ctx, name, options)
}

// Update implements rest.Patcher. What changes is one write: the status, the labels that
// go with it, and who has written.
func (s *status) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	_ rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	store, ok := s.workspace.Clusters()
	if !ok {
		return nil, false, errors.New("the store of logical clusters is not open")
	}
	updated := &corev1alpha1.LogicalCluster{}
	update := apistorage.SimpleUpdate(func(input runtime.Object) (runtime.Object, error) {
		lc, ok := input.(*corev1alpha1.LogicalCluster)
		if !ok {
			return nil, errors.New("the store of logical clusters holds something else")
		}
		return s.updated(ctx, lc, info)
	})
	var err error
	if len(options.DryRun) > 0 {
		updated, err = s.dryRun(ctx, store, name, info)
	} else {
		err = store.GuaranteedUpdate(ctx, cached.LogicalClusters.Key("", name), updated, false, preconditions(info), update, nil)
	}
	if err != nil {
		return nil, false, storeerrors.InterpretUpdateError(err, resource, name)
	}
	shown, err := show(updated)
	return shown, false, err
}

// dryRun is Update without writing.
func (s *status) dryRun(ctx context.Context, store apistorage.Interface, name string, info rest.UpdatedObjectInfo) (*corev1alpha1.LogicalCluster, error) {
	lc, key := &corev1alpha1.LogicalCluster{}, cached.LogicalClusters.Key("", name)
	if err := store.Get(ctx, key, apistorage.GetOptions{}, lc); err != nil {
		return nil, err
	}
	if err := preconditions(info).Check(key, lc); err != nil {
		return nil, err
	}
	return s.updated(ctx, lc, info)
}

// updated returns lc, which is its own, as it is to be stored.
func (s *status) updated(ctx context.Context, lc *corev1alpha1.LogicalCluster, info rest.UpdatedObjectInfo) (*corev1alpha1.LogicalCluster, error) {
	hook := s.waiting.hook
	if !hook.ActiveIn(lc) {
		return nil, apierrors.NewNotFound(resource, lc.Name)
	}
	before, err := show(lc)
	if err != nil {
		return nil, err
	}
	object, err := info.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	asked, err := read(object)
	if err != nil {
		return nil, err
	}
	if err := isCurrent(lc, asked); err != nil {
		return nil, err
	}
	wanted, err := apply(hook, lc, asked)
	if err != nil {
		return nil, err
	}
	wanted.ManagedFields = asked.ManagedFields
	wanted, _ = phase.RecordWrite(wanted, hook, userName(ctx), metav1.NewTime(s.workspace.Clock.Now()))
	// Who lists and watches by labels sees at once that the hook is done.
	phase.SyncLabels(wanted)
	return wanted, nil
}

// isCurrent says what is wrong with what somebody has made his changes to.
func isCurrent(lc, asked *corev1alpha1.LogicalCluster) error {
	if asked.UID != "" && asked.UID != lc.UID {
		return apierrors.NewConflict(resource, lc.Name, fmt.Errorf("it has the UID %s, not %s", lc.UID, asked.UID))
	}
	switch asked.ResourceVersion {
	case lc.ResourceVersion:
		return nil
	case "", "0":
		return apierrors.NewInvalid(kind.GroupKind(), lc.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), asked.ResourceVersion, "must be specified for an update"),
		})
	default:
		return apierrors.NewConflict(resource, lc.Name, errors.New(genericregistry.OptimisticLockErrorMsg))
	}
}

func preconditions(info rest.UpdatedObjectInfo) *apistorage.Preconditions {
	if from := info.Preconditions(); from != nil {
		return &apistorage.Preconditions{UID: from.UID, ResourceVersion: from.ResourceVersion}
	}
	return &apistorage.Preconditions{}
}
