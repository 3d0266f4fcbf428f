package permissionclaims

import (
	"cmp"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Name is what tells claims apart: those of one export, and the answers to them.
type Name struct {
	schema.GroupResource
	IdentityHash string
}

// NameOf returns the name of a claim.
func NameOf(claim apisv1alpha2.PermissionClaim) Name {
	return Name{
		GroupResource: schema.GroupResource{Group: claim.Group, Resource: claim.Resource},
		IdentityHash:  claim.IdentityHash,
	}
}

// Compare orders by group, resource and identity hash.
func (n Name) Compare(other Name) int {
	return cmp.Or(
		strings.Compare(n.Group, other.Group),
		strings.Compare(n.Resource, other.Resource),
		strings.Compare(n.IdentityHash, other.IdentityHash),
	)
}

// Stored returns what the objects of a resource are stored as: events have two groups and
// are the same objects.
func Stored(resource schema.GroupResource) schema.GroupResource {
	if resource == (schema.GroupResource{Group: "events.k8s.io", Resource: "events"}) {
		return schema.GroupResource{Resource: "events"}
	}
	return resource
}

// LabelValue returns the value that the label of an export has on the objects of a claim.
func LabelValue(claim Name) string {
	resource := Stored(claim.GroupResource)
	// Clients compute the same, from the JSON of a claim without verbs.
	content, err := json.Marshal(apisv1alpha2.PermissionClaim{
		GroupResource: apisv1alpha2.GroupResource{Group: resource.Group, Resource: resource.Resource},
		IdentityHash:  claim.IdentityHash,
	})
	if err != nil {
		// Strings can always be encoded.
		panic(err)
	}
	return apihash.Of(string(content))
}

// IsLabel says whether key is that of a label by which claimed objects are known.
func IsLabel(key string) bool {
	return strings.HasPrefix(key, apisv1alpha1.APIExportPermissionClaimLabelPrefix)
}
