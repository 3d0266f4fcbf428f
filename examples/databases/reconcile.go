package main

import (
	"context"
	"crypto/rand"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// askAgain is when a tenant who keeps the controller from its work is looked at again:
// answers to claims are no change of a Database.
const askAgain = 5 * time.Second

// reconciler looks after Databases.
type reconciler struct{ consumers *consumers }

// Reconcile gives a Database its credentials and says where it is. The Database is read from
// memory; requests go to the workspace it is in, and only about what may have to change.
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
	credentials, err := provideCredentials(ctx, here, database)
	if apierrors.IsForbidden(err) || apierrors.IsAlreadyExists(err) {
		// The tenant does not let us, and can read why.
		status := database.Status
		status.Message = err.Error()
		if err := writeStatus(ctx, here, database, status); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{RequeueAfter: askAgain}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(ctx, here, database, DatabaseStatus{
		Host:   database.Name + "." + request.Cluster + "." + database.Spec.Engine + ".example.dev",
		Secret: credentials.Name,
	})
}

// provideCredentials makes the Secret of a Database, in its workspace.
func provideCredentials(ctx context.Context, here client.Client, database *Database) (*corev1.Secret, error) {
	credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: database.Namespace, Name: database.Name + "-credentials"}}
	_, err := controllerutil.CreateOrUpdate(ctx, here, credentials, func() error {
		if credentials.Data == nil {
			credentials.Data = map[string][]byte{"username": []byte(database.Name), "password": []byte(rand.Text())}
		}
		// The label that the claim asks for is put on by the server.
		return controllerutil.SetControllerReference(database, credentials, here.Scheme())
	})
	return credentials, err
}

// writeStatus writes a status that differs from what there is.
func writeStatus(ctx context.Context, here client.Client, database *Database, status DatabaseStatus) error {
	if database.Status == status {
		return nil
	}
	database.Status = status
	return client.IgnoreNotFound(here.Status().Update(ctx, database))
}
