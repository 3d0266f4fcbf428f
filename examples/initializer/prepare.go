package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/forkless/kcp/examples/hooks"
)

const (
	// namespace is what each project works in.
	namespace = "work"
	// export is the API that each project has, beside the type.
	export = "environments"
	// lookAgain is when a binding that is not bound yet is looked at again.
	lookAgain = time.Second
)

var (
	namespaces  = corev1.SchemeGroupVersion.WithKind("Namespace")
	quotas      = corev1.SchemeGroupVersion.WithKind("ResourceQuota")
	apiBindings = schema.GroupVersionKind{Group: "apis.kcp.io", Version: "v1alpha2", Kind: "APIBinding"}
)

// prepare makes what a project begins with, and lets it go. All of it may have been done
// before, by a controller that was stopped in between.
func prepare(ctx context.Context, project *hooks.Turn) (ctrl.Result, error) {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "project"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("10")}},
		},
		binding(project.Home),
	}
	for _, object := range objects {
		if err := project.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
	}
	// Who sees a project that is ready can use the API at once.
	bound := binding(project.Home)
	if err := project.Get(ctx, client.ObjectKeyFromObject(bound), bound); err != nil {
		return ctrl.Result{}, err
	}
	if phase, _, _ := unstructured.NestedString(bound.Object, "status", "phase"); phase != "Bound" {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	ctrl.LoggerFrom(ctx).Info("Prepared", "cluster", project.Cluster)
	return ctrl.Result{}, project.Done(ctx)
}

// binding takes the API. A path may be the name of a logical cluster, which the controller
// knows and which does not change.
func binding(home string) *unstructured.Unstructured {
	wanted := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"reference": map[string]any{"export": map[string]any{"path": home, "name": export}},
		},
	}}
	wanted.SetGroupVersionKind(apiBindings)
	wanted.SetName(export)
	return wanted
}
