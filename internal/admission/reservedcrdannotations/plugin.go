package reservedcrdannotations

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "apis.kcp.io/ReservedCRDAnnotations"

// reservedDomain is what the prefix of a reserved annotation is, or is below.
const reservedDomain = "apis.kcp.io"

// owner is the logical cluster of the definitions of bound APIs.
var owner = logicalcluster.MustParseName("system:bound-crds")

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create, admission.Update)} }

// Validate refuses reserved annotations.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != apiextensions.Resource("customresourcedefinitions") || a.GetSubresource() != "" {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	if cluster == owner {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return err
	}
	var found []string
	for key := range object.GetAnnotations() {
		if isReserved(key) {
			found = append(found, key)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return request.Denied(a, "the annotations %s are reserved, leave them out", strings.Join(found, ", "))
}

func isReserved(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	return ok && (domain == reservedDomain || strings.HasSuffix(domain, "."+reservedDomain))
}
