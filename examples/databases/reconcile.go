package main

import (
	"context"
	"crypto/rand"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// reconciler looks after Databases.
type reconciler struct{ consumers *consumers }

// Reconcile gives a Database its credentials and says where it is.
func (r *reconciler) Reconcile(ctx context.Context, request Request) (ctrl.Result, error) {
	cached, here, err := r.consumers.get(request)
	if cached == nil || err != nil {
		// What is gone takes its Secret along: the workspace collects garbage.
		return ctrl.Result{}, err
	}
	database, _ := cached.DeepCopyObject().(*Database)
	if database.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: database.Namespace, Name: database.Name + "-credentials"}}
	_, err = controllerutil.CreateOrUpdate(ctx, here, credentials, func() error {
		if credentials.Data == nil {
			credentials.Data = map[string][]byte{"username": []byte(database.Name), "password": []byte(rand.Text())}
		}
		// The label that the claim asks for is put on by the server.
		return controllerutil.SetControllerReference(database, credentials, here.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	status := DatabaseStatus{
		Host:   database.Name + "." + request.Cluster + "." + database.Spec.Engine + ".example.dev",
		Secret: credentials.Name,
	}
	if database.Status == status {
		return ctrl.Result{}, nil
	}
	database.Status = status
	return ctrl.Result{}, client.IgnoreNotFound(here.Status().Update(ctx, database))
}
