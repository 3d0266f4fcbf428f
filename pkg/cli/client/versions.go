package client

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Binding is an APIBinding: what the commands read of it, in v1alpha2, and what the
// server sent, in the version that it has.
type Binding struct {
	apisv1alpha2.APIBinding
	Sent unstructured.Unstructured
}

// Export is an APIExport, likewise.
type Export struct {
	apisv1alpha2.APIExport
	Sent unstructured.Unstructured
}

// UnmarshalJSON reads either version. What v1alpha1 has as well has the same name
// there, so that only what is missing has to be filled in.
func (b *Binding) UnmarshalJSON(data []byte) error {
	b.APIBinding = apisv1alpha2.APIBinding{}
	if err := json.Unmarshal(data, &b.APIBinding); err != nil {
		return err
	}
	return sent(data, &b.Sent, "APIBinding", &b.APIVersion)
}

// UnmarshalJSON reads either version.
func (e *Export) UnmarshalJSON(data []byte) error {
	e.APIExport = apisv1alpha2.APIExport{}
	if err := json.Unmarshal(data, &e.APIExport); err != nil {
		return err
	}
	if err := sent(data, &e.Sent, "APIExport", &e.APIVersion); err != nil {
		return err
	}
	if !strings.HasSuffix(e.APIVersion, "/"+v1alpha1) {
		return nil
	}
	var old apisv1alpha1.APIExport
	if err := json.Unmarshal(data, &old); err != nil {
		return err
	}
	for _, name := range old.Spec.LatestResourceSchemas {
		resource, err := resourceOf(name)
		if err != nil {
			return fmt.Errorf("APIExport %s: %w", e.Name, err)
		}
		e.Spec.Resources = append(e.Spec.Resources, resource)
	}
	return nil
}

// sent decodes an object as it is. Items of lists may say nothing about their type.
func sent(data []byte, into *unstructured.Unstructured, kind string, apiVersion *string) error {
	into.Object = nil
	if err := json.Unmarshal(data, &into.Object); err != nil {
		return err
	}
	if *apiVersion == "" {
		*apiVersion = apisGroup + "/" + v1alpha2
	}
	into.SetAPIVersion(*apiVersion)
	into.SetKind(kind)
	return nil
}

// resourceOf returns what the schema called name is of: <prefix>.<resource>.<group>.
func resourceOf(name string) (apisv1alpha2.ResourceSchema, error) {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 {
		return apisv1alpha2.ResourceSchema{}, fmt.Errorf("the name of schema %s has too few parts", name)
	}
	group := parts[2]
	if group == "core" {
		group = ""
	}
	return apisv1alpha2.ResourceSchema{Name: parts[1], Group: group, Schema: name}, nil
}

// bindingToSend returns binding in the version that the server has.
func (a *APIs) bindingToSend(binding *apisv1alpha2.APIBinding) any {
	if !a.Old() {
		return binding
	}
	old := &apisv1alpha1.APIBinding{TypeMeta: a.TypeMeta("APIBinding"), ObjectMeta: binding.ObjectMeta}
	if export := binding.Spec.Reference.Export; export != nil {
		old.Spec.Reference.Export = &apisv1alpha1.ExportBindingReference{Path: export.Path, Name: export.Name}
	}
	for _, c := range binding.Spec.PermissionClaims {
		var answer apisv1alpha1.AcceptablePermissionClaim
		answer.Group, answer.Resource, answer.IdentityHash = c.Group, c.Resource, c.IdentityHash
		answer.All, answer.State = true, apisv1alpha1.AcceptablePermissionClaimState(c.State)
		old.Spec.PermissionClaims = append(old.Spec.PermissionClaims, answer)
	}
	return old
}

// ClaimsToSend returns the permission claims of a binding with changes made to them, as
// they are written in the server's version: answers that are not changed stay as they
// are, whatever is in them.
func (a *APIs) ClaimsToSend(binding *Binding, changed []apisv1alpha2.AcceptablePermissionClaim) ([]any, error) {
	all, _, err := unstructured.NestedSlice(binding.Sent.Object, "spec", "permissionClaims")
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for _, c := range changed {
		i := slices.IndexFunc(binding.Spec.PermissionClaims, func(present apisv1alpha2.AcceptablePermissionClaim) bool {
			return present.GroupResource == c.GroupResource && present.IdentityHash == c.IdentityHash
		})
		entry, err := a.claimToSend(c)
		switch {
		case err != nil:
			return nil, err
		case i < 0:
			all = append(all, entry)
		case a.Old():
			// There is nothing in v1alpha1 that an answer could change but itself.
			present := all[i].(map[string]any)
			present["state"] = string(c.State)
		default:
			all[i] = entry
		}
	}
	return all, nil
}

func (a *APIs) claimToSend(c apisv1alpha2.AcceptablePermissionClaim) (map[string]any, error) {
	if a.Old() {
		entry := map[string]any{"group": c.Group, "resource": c.Resource, "all": true, "state": string(c.State)}
		if c.IdentityHash != "" {
			entry["identityHash"] = c.IdentityHash
		}
		return entry, nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var entry map[string]any
	return entry, json.Unmarshal(data, &entry)
}
