// Command greeter is a controller for one workspace, that of the current context: it
// answers each Greeting in its status and keeps a ConfigMap with the same text. It elects a
// leader, and a webhook of its own refuses greetings for nobody.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return err
	}
	if err := greetings.AddToScheme(types); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	hooks, err := webhooks(ctx)
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        types,
		LeaderElection:                true,
		LeaderElectionID:              "greeter",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
		WebhookServer:                 hooks.server,
	})
	if err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(manager, &Greeting{}).WithValidator(polite{}).Complete(); err != nil {
		return err
	}
	if err := hooks.register(ctx, manager.GetAPIReader(), manager.GetClient()); err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&Greeting{}).Owns(&corev1.ConfigMap{}).Complete(&greeter{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// greeter answers Greetings.
type greeter struct{ client.Client }

// Reconcile writes the answer.
func (g *greeter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	greeting := &Greeting{}
	if err := g.Get(ctx, request.NamespacedName, greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	message := "hello, " + greeting.Spec.Name
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: greeting.Namespace, Name: greeting.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, g.Client, copied, func() error {
		copied.Data = map[string]string{"message": message}
		// It goes with the greeting: the workspace collects garbage as any cluster does.
		return controllerutil.SetControllerReference(greeting, copied, g.Scheme())
	})
	if err != nil || greeting.Status.Message == message {
		return ctrl.Result{}, err
	}
	greeting.Status.Message = message
	return ctrl.Result{}, g.Status().Update(ctx, greeting)
}
