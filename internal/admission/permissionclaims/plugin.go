package permissionclaims

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "apis.kcp.io/PermissionClaims"

// Claims knows the claims that clusters have accepted.
type Claims interface {
	// Labels returns the labels of claims that an object of a resource of cluster is to
	// carry that has these labels.
	Labels(cluster logicalcluster.Name, resource schema.GroupResource, of map[string]string) map[string]string
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	claims Claims
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New(claims Claims) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), claims: claims}
}

// Admit sets the labels.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	object, ok := objectOf(a)
	if !ok {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	if guard := guardFor(ctx, a); guard != nil {
		if err := complete(a, object, guard); err != nil {
			return err
		}
	}
	of := permissionclaims.LabelsOf(object)
	wanted := p.claims.Labels(cluster, a.GetResource().GroupResource(), of)
	if corrected, changed := permissionclaims.Corrected(of, wanted); changed {
		object.SetLabels(corrected)
	}
	return nil
}

// Validate refuses what the provider who writes it might not see afterwards.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	guard := guardFor(ctx, a)
	if guard == nil {
		return nil
	}
	object, ok := objectOf(a)
	if !ok {
		return nil
	}
	if a.GetOperation() == admission.Create && !guard.Allows("create") {
		return request.Denied(a, "the permission claim does not allow to create %s", a.GetResource().GroupResource())
	}
	if !guard.Sees(permissionclaims.LabelsOf(object)) {
		return request.Denied(a, "object does not match required labels")
	}
	return nil
}

// complete gives an object the labels that its provider's claim selects by.
func complete(a admission.Attributes, object metav1.Object, guard *permissionclaims.Guard) error {
	of := permissionclaims.LabelsOf(object)
	if guard.Sees(of) {
		return nil
	}
	missing, conflict, ok := guard.Complete(of)
	if !ok {
		return request.Denied(a, "protected label %s must have value %s", conflict, guard.Wanted(conflict))
	}
	if len(missing) == 0 {
		return nil
	}
	// A new map: the old one may be that of another object.
	completed := make(map[string]string, len(of)+len(missing))
	maps.Copy(completed, of)
	maps.Copy(completed, missing)
	object.SetLabels(completed)
	return nil
}

// guardFor returns the guard of a request for the resource that it is about, if any.
func guardFor(ctx context.Context, a admission.Attributes) *permissionclaims.Guard {
	guard := permissionclaims.GuardFrom(ctx)
	if guard == nil || guard.Resource() != permissionclaims.Stored(a.GetResource().GroupResource()) {
		return nil
	}
	return guard
}

// objectOf returns the object of a request, if it is one of the resource that is stored:
// reviews are answered and forgotten, and most subresources have objects of another kind.
func objectOf(a admission.Attributes) (metav1.Object, bool) {
	if a.GetObject() == nil || permissionclaims.IsReview(a.GetResource().GroupResource()) {
		return nil, false
	}
	switch a.GetSubresource() {
	case "", "status", "finalize", "approval":
	default:
		return nil, false
	}
	object, err := meta.Accessor(a.GetObject())
	return object, err == nil
}
