package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// polite refuses greetings for nobody.
type polite struct{}

// ValidateCreate checks a new greeting.
func (polite) ValidateCreate(_ context.Context, greeting *Greeting) (admission.Warnings, error) {
	if greeting.Spec.Name == "" {
		return nil, errors.New("spec.name: say who is to be greeted")
	}
	return nil, nil
}

// ValidateUpdate checks a greeting that changes.
func (p polite) ValidateUpdate(ctx context.Context, _, greeting *Greeting) (admission.Warnings, error) {
	return p.ValidateCreate(ctx, greeting)
}

// ValidateDelete lets every greeting go.
func (polite) ValidateDelete(context.Context, *Greeting) (admission.Warnings, error) { return nil, nil }

// hooks is a webhook server and what the workspace has to know about it.
type hooks struct {
	server webhook.Server
	url    string
	ca     []byte
}

// webhooks makes a server with a certificate of its own. A workspace has no Services, so
// the configuration names the webhook by its URL.
func webhooks(ctx context.Context) (*hooks, error) {
	const host = "127.0.0.1"
	ca, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "greeter-")
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"tls.crt": ca, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	port, err := freePort(ctx, host)
	if err != nil {
		return nil, err
	}
	return &hooks{
		server: webhook.NewServer(webhook.Options{Host: host, Port: port, CertDir: directory}),
		url:    fmt.Sprintf("https://%s:%d/validate-examples-dev-v1-greeting", host, port),
		ca:     ca,
	}, nil
}

// register tells the workspace of the webhook.
func (h *hooks) register(ctx context.Context, reader client.Reader, writer client.Client) error {
	sideEffects := admissionregistrationv1.SideEffectClassNone
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "greeter"}}
	_, err := controllerutil.CreateOrUpdate(ctx, direct{writer, reader}, config, func() error {
		config.Webhooks = []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "greetings.examples.dev",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &h.url, CABundle: h.ca},
			SideEffects:             &sideEffects,
			AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"examples.dev"}, APIVersions: []string{"v1"}, Resources: []string{"greetings"},
				},
			}},
		}}
		return nil
	})
	return err
}

// direct is a client that reads from the server: before the manager has started, there is
// no cache to read from.
type direct struct {
	client.Client
	reader client.Reader
}

// Get reads from the server.
func (d direct) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	return d.reader.Get(ctx, key, obj, options...)
}

func freePort(ctx context.Context, host string) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("not a TCP address")
	}
	return address.Port, nil
}
