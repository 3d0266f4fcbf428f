package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// workload is a type of workloads.yaml.
type workload struct {
	Group   string `json:"group"`
	Plural  string `json:"plural"`
	Kind    string `json:"kind"`
	Cluster bool   `json:"cluster"`
	// Versions are the names of the schemas in the OpenAPI document of Kubernetes. The
	// first in the order of Kubernetes, v2 before v1, is the one that is stored.
	Versions map[string]string `json:"versions"`
}

func workloads() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile("workloads.yaml")
	if err != nil {
		return nil, err
	}
	var workloads []workload
	if err := yaml.UnmarshalStrict(data, &workloads); err != nil {
		return nil, err
	}
	schemas := newSchemas()
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, w := range workloads {
		crd, err := w.definition(schemas)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", w.Plural, w.Group, err)
		}
		all = append(all, crd)
	}
	return all, nil
}

func (w workload) definition(schemas schemas) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: w.Plural + "." + w.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: w.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: w.Plural, Singular: strings.ToLower(w.Kind), Kind: w.Kind, ListKind: w.Kind + "List",
			},
		},
	}
	if strings.HasSuffix(w.Group, ".k8s.io") {
		// Kubernetes reserves these groups for types that it has approved.
		crd.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "https://github.com/kubernetes/kubernetes"}
	}
	if w.Cluster {
		crd.Spec.Scope = apiextensionsv1.ClusterScoped
	}
	versions := slices.Sorted(maps.Keys(w.Versions))
	slices.Reverse(versions)
	for i, version := range versions {
		schema, err := schemas.of(w.Versions[version])
		if err != nil {
			return nil, err
		}
		served := apiextensionsv1.CustomResourceDefinitionVersion{
			Name:    version,
			Served:  true,
			Storage: i == 0,
			Schema:  &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
		}
		if _, ok := schema.Properties["status"]; ok {
			served.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		}
		crd.Spec.Versions = append(crd.Spec.Versions, served)
	}
	return crd, nil
}

// install creates the definitions in a workspace and waits until they are in force.
func install(ctx context.Context, config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	clientset, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	client := clientset.CustomResourceDefinitions()
	var errs []error
	for _, crd := range crds {
		if _, err := client.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			errs = append(errs, fmt.Errorf("creating %s: %w", crd.Name, err))
		}
	}
	for _, crd := range crds {
		// One by one: they are large, and a list of all of them is work for the server.
		err := wait.PollUntilContextTimeout(ctx, 10*poll, patience, true, func(ctx context.Context) (bool, error) {
			current, err := client.Get(ctx, crd.Name, metav1.GetOptions{})
			return err == nil && slices.ContainsFunc(current.Status.Conditions, established), err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("waiting for %s to be established: %w", crd.Name, err))
		}
	}
	return errors.Join(errs...)
}

func established(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
	return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
}
