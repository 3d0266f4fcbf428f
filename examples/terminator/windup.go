package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/forkless/kcp/examples/hooks"
)

const (
	// keep is the finalizer of ConfigMaps that are archived. The content of a workspace goes
	// without waiting for terminators: what they have to see has to be held.
	keep = "archive.example.dev/keep"
	// lookAgain is when a workspace that is still being emptied is looked at again.
	lookAgain = time.Second
)

// winder winds up workspaces.
type winder struct {
	archive archive
	access  access
}

// windUp archives what is to be kept, revokes access, and lets the workspace go. All of it
// may have been done before, by a controller that was stopped in between.
func (w *winder) windUp(ctx context.Context, tenant *hooks.Turn) (ctrl.Result, error) {
	left := &corev1.ConfigMapList{}
	if err := tenant.List(ctx, left); err != nil {
		return ctrl.Result{}, err
	}
	waiting := false
	for i := range left.Items {
		configMap := &left.Items[i]
		if configMap.DeletionTimestamp == nil {
			// It may still get the finalizer, which nobody would remove after we have left.
			waiting = true
			continue
		}
		if err := w.keep(ctx, tenant, configMap); err != nil {
			return ctrl.Result{}, err
		}
	}
	if waiting {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	if err := w.access.revoke(ctx, tenant.Cluster); err != nil {
		return ctrl.Result{}, err
	}
	ctrl.LoggerFrom(ctx).Info("Wound up", "cluster", tenant.Cluster)
	return ctrl.Result{}, tenant.Done(ctx)
}

// keep archives a ConfigMap that has the finalizer, and removes it. Nothing but the state
// that is in the archive is given up: whoever has changed it since makes for a conflict, and
// another try.
func (w *winder) keep(ctx context.Context, tenant *hooks.Turn, configMap *corev1.ConfigMap) error {
	before := configMap.DeepCopy()
	if !controllerutil.RemoveFinalizer(configMap, keep) {
		return nil
	}
	if err := w.archive.add(tenant.Cluster, configMap); err != nil {
		return err
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(tenant.Patch(ctx, configMap, patch))
}
