package quickstart

import (
	"context"
	_ "embed" // the definition of the API
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/bind"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

//go:embed cowboys.yaml
var cowboys []byte

const (
	exportName   = "cowboys"
	schemaPrefix = "today"
	sampleName   = "john-wayne"
)

var cowboyResource = schema.GroupVersionResource{Group: "wildwest.dev", Version: "v1alpha1", Resource: "cowboys"}

// apiProvider makes a provider and a consumer, and returns where the consumer is.
func (o *Options) apiProvider(ctx context.Context, b *builder) (logicalcluster.Path, error) {
	org := b.org()
	provider, consumer := org.Join(b.prefix+"-provider"), org.Join(b.prefix+"-consumer")
	steps := []struct {
		what string
		do   func() error
	}{
		{"Creating the organization", func() error {
			return b.announce(ctx, logicalcluster.Root.Path(), b.orgName(), organization)
		}},
		{"Creating the provider's workspace", func() error { return b.announce(ctx, org, provider.Base(), universal) }},
		{"Creating the consumer's workspace", func() error { return b.announce(ctx, org, consumer.Base(), universal) }},
		{"Offering an API", func() error { return offer(ctx, b, provider) }},
		{"Binding the API", func() error { return take(ctx, b, provider, consumer) }},
	}
	if o.WithSamples {
		steps = append(steps, struct {
			what string
			do   func() error
		}{"Creating a sample", func() error { return sample(ctx, b, consumer) }})
	}
	for i, s := range steps {
		b.step(i+1, len(steps), s.what)
		if err := s.do(); err != nil {
			return consumer, err
		}
	}
	b.say(`
Done. This is what there is now:

  root
  +-- %s
      +-- %s   offers %s
      +-- %s   has bound it

Try:

  kubectl ws :%s
  kubectl get cowboys
  kubectl api-resources --api-group=%s
  kubectl ws :%s
  kubectl get apiexports

Remove it:

  kubectl kcp quickstart --name-prefix %s --cleanup`,
		b.orgName(), provider.Base(), exportName, consumer.Base(), consumer, cowboyResource.Group, provider, b.prefix)
	return consumer, nil
}

// offer makes the schema and the export of the API.
func offer(ctx context.Context, b *builder, provider logicalcluster.Path) error {
	apis, err := newAPIs(ctx, b, provider)
	if err != nil {
		return err
	}
	s, err := cowboySchema()
	if err != nil {
		return err
	}
	if err := b.made(fmt.Sprintf("APIResourceSchema %q", s.Name), apis.CreateResourceSchema(ctx, s)); err != nil {
		return err
	}
	return b.made(fmt.Sprintf("APIExport %q", exportName), apis.CreateExport(ctx, &apisv1alpha2.APIExport{
		TypeMeta:   metav1.TypeMeta{APIVersion: apisv1alpha2.GroupVersion.String(), Kind: "APIExport"},
		ObjectMeta: metav1.ObjectMeta{Name: exportName},
		Spec: apisv1alpha2.APIExportSpec{Resources: []apisv1alpha2.ResourceSchema{{
			Name: cowboyResource.Resource, Group: cowboyResource.Group, Schema: s.Name,
			Storage: apisv1alpha2.ResourceSchemaStorage{CRD: &apisv1alpha2.ResourceSchemaStorageCRD{}},
		}}},
	}))
}

func newAPIs(ctx context.Context, b *builder, workspace logicalcluster.Path) (*client.APIs, error) {
	apis, err := b.client.APIs(ctx, workspace)
	if err == nil && apis.Old() {
		err = fmt.Errorf("this server does not know version v1alpha2 of exports")
	}
	return apis, err
}

func cowboySchema() (*apisv1alpha1.APIResourceSchema, error) {
	definitions, err := definition.Parse("the API of the quickstart", cowboys, true)
	if err != nil {
		return nil, err
	}
	spec, err := definition.Spec(definitions[0])
	if err != nil {
		return nil, err
	}
	return definition.New(spec, schemaPrefix)
}

// take binds the API and waits until it is there.
func take(ctx context.Context, b *builder, provider, consumer logicalcluster.Path) error {
	apis, err := newAPIs(ctx, b, consumer)
	if err != nil {
		return err
	}
	binding, err := apis.CreateBinding(ctx, &apisv1alpha2.APIBinding{
		TypeMeta:   apis.TypeMeta("APIBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: exportName},
		Spec: apisv1alpha2.APIBindingSpec{Reference: apisv1alpha2.BindingReference{
			Export: &apisv1alpha2.ExportBindingReference{Path: provider.String(), Name: exportName},
		}},
	}, false)
	if saidErr := b.made(fmt.Sprintf("APIBinding %q", exportName), err); saidErr != nil {
		return saidErr
	}
	if apierrors.IsAlreadyExists(err) {
		if binding, err = apis.Binding(ctx, exportName); err != nil {
			return err
		}
	}
	w := bind.Waiter{Timeout: readyPatience, Told: func(string) {}, Hint: fmt.Sprintf("kubectl kcp debug binding %s -w :%s", exportName, consumer)}
	if _, err := w.Wait(ctx, apis, binding); err != nil {
		return err
	}
	b.say("  APIBinding %q bound", exportName)
	return nil
}

// sample makes an object of the API.
func sample(ctx context.Context, b *builder, consumer logicalcluster.Path) error {
	cowboy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": cowboyResource.GroupVersion().String(),
		"kind":       "Cowboy",
		"metadata":   map[string]any{"name": sampleName, "namespace": metav1.NamespaceDefault},
		"spec":       map[string]any{"intent": "good"},
	}}
	return b.made(fmt.Sprintf("Cowboy \"%s/%s\"", metav1.NamespaceDefault, sampleName), b.client.Create(ctx, consumer, cowboyResource, cowboy))
}
