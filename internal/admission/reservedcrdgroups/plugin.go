package reservedcrdgroups

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "kcp.io/ReservedCRDGroups"

// reservedSuffix ends the groups that are the system's.
const reservedSuffix = "apis.kcp.io"

// owner is the logical cluster of the system's own definitions.
var owner = logicalcluster.MustParseName("system:system-crds")

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create, admission.Update)} }

// Validate refuses definitions in reserved groups.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != apiextensions.Resource("customresourcedefinitions") || a.GetSubresource() != "" {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	group, err := groupOf(a.GetObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if strings.HasSuffix(group, reservedSuffix) && cluster != owner {
		return request.Denied(a, "the API group %s is reserved, choose one that does not end in %s", group, reservedSuffix)
	}
	return nil
}

// groupOf reads the group of a definition, which comes in the form the registry works
// with or in that of the API.
func groupOf(obj runtime.Object) (string, error) {
	switch crd := obj.(type) {
	case *apiextensions.CustomResourceDefinition:
		return crd.Spec.Group, nil
	case *apiextensionsv1.CustomResourceDefinition:
		return crd.Spec.Group, nil
	default:
		return "", fmt.Errorf("an object of type %T is no CustomResourceDefinition", obj)
	}
}
