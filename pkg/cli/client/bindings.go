package client

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// APIBinding is that part of an APIBinding which the commands look at.
type APIBinding struct {
	// ObjectMeta of the binding.
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what the user of the API wants.
	Spec struct {
		// PermissionClaims are those that were answered.
		PermissionClaims []AnsweredClaim `json:"permissionClaims"`
	} `json:"spec"`
	// Status is what the system knows.
	Status struct {
		// ExportPermissionClaims are those that the export makes.
		ExportPermissionClaims []PermissionClaim `json:"exportPermissionClaims"`
	} `json:"status"`
}

// PermissionClaim is a wish of an API's provider to see objects of its users.
type PermissionClaim struct {
	// Group and Resource say which objects.
	Group    string `json:"group"`
	Resource string `json:"resource"`
	// IdentityHash says of which export they are, "" for built-in ones.
	IdentityHash string `json:"identityHash"`
	// Verbs are what the provider wants to do with them.
	Verbs []string `json:"verbs"`
}

// AnsweredClaim is a claim with the user's answer.
type AnsweredClaim struct {
	PermissionClaim `json:",inline"`
	// State is "Accepted" or "Rejected", or "" if there is no answer.
	State string `json:"state"`
}

// String returns the claim as resource[.group][:identity].
func (c PermissionClaim) String() string {
	s := c.Resource
	if c.Group != "" {
		s += "." + c.Group
	}
	if c.IdentityHash != "" {
		s += ":" + c.IdentityHash
	}
	return s
}

// SameObjects says whether c and other are about the same objects.
func (c PermissionClaim) SameObjects(other PermissionClaim) bool {
	return c.Group == other.Group && c.Resource == other.Resource && c.IdentityHash == other.IdentityHash
}

// APIBindings returns the APIBindings in the workspace p. A server without such an API
// answers "not found".
func (c *Client) APIBindings(ctx context.Context, p logicalcluster.Path) ([]APIBinding, error) {
	var all []APIBinding
	params := map[string]string{"limit": strconv.Itoa(pageSize)}
	for {
		var list struct {
			metav1.ListMeta `json:"metadata"`
			Items           []APIBinding `json:"items"`
		}
		if err := c.get(ctx, at(p, "apis", "apis.kcp.io", "v1alpha2", "apibindings"), params, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if list.Continue == "" {
			return all, nil
		}
		params["continue"] = list.Continue
	}
}
