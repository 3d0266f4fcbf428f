package apply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// standing is how far an object has come.
type standing struct {
	// settled says that the object is what it will be.
	settled bool
	// waiting is what is missing, as far as the object says.
	waiting string
	// served are resources that it brings, which have to be served, too. A version that
	// is empty stands for any.
	served []schema.GroupVersionResource
	// never, if not nil, is why it will not settle.
	never error
}

// standingOf says how far the object has come, from what it says of itself. Most kinds
// are settled as soon as they are written.
func standingOf(object *unstructured.Unstructured) standing {
	switch object.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}:
		return as(object, standingOfDefinition)
	case schema.GroupKind{Group: apisv1alpha2.GroupName, Kind: "APIExport"}:
		identity, _, _ := unstructured.NestedString(object.Object, "status", "identityHash")
		return standing{settled: identity != "", waiting: "it has no identity"}
	case schema.GroupKind{Group: apisv1alpha2.GroupName, Kind: "APIBinding"}:
		return as(object, standingOfBinding)
	case schema.GroupKind{Group: tenancyv1alpha1.GroupName, Kind: "Workspace"}:
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		return standing{
			settled: phase == string(corev1alpha1.PhaseReady),
			waiting: fmt.Sprintf("its phase is %q", phase),
		}
	}
	return standing{settled: true}
}

// as reads the object as a T.
func as[T any](object *unstructured.Unstructured, decide func(*T) standing) standing {
	raw, err := json.Marshal(object)
	if err == nil {
		typed := new(T)
		if err = json.Unmarshal(raw, typed); err == nil {
			return decide(typed)
		}
	}
	return standing{never: err}
}

func standingOfDefinition(crd *apiextensionsv1.CustomResourceDefinition) standing {
	result := standing{waiting: "it is not established"}
	for _, c := range crd.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			result.settled = true
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			result.never = fmt.Errorf("its names are taken: %s", c.Message)
		}
	}
	for _, version := range crd.Spec.Versions {
		if version.Served {
			result.served = append(result.served, schema.GroupVersionResource{
				Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural,
			})
		}
	}
	return result
}

// standingOfBinding reads bindings of all versions: what it looks at is the same in them.
func standingOfBinding(binding *apisv1alpha2.APIBinding) standing {
	status := binding.Status
	result := standing{
		settled: status.Phase == apisv1alpha2.APIBindingPhaseBound,
		waiting: fmt.Sprintf("its phase is %q", status.Phase),
	}
	for _, resource := range status.BoundResources {
		result.served = append(result.served, schema.GroupVersionResource{Group: resource.Group, Resource: resource.Resource})
	}
	if !result.settled {
		return result
	}
	for _, claim := range binding.Spec.PermissionClaims {
		if claim.State != apisv1alpha2.ClaimAccepted || !slices.ContainsFunc(status.ExportPermissionClaims, isAbout(claim)) {
			continue
		}
		applied := slices.ContainsFunc(status.AppliedPermissionClaims, func(c apisv1alpha2.ScopedPermissionClaim) bool {
			return isAbout(claim)(c.PermissionClaim)
		})
		if !applied {
			result.settled = false
			result.waiting = fmt.Sprintf("its claim on %s is not applied", claim.Resource)
		}
	}
	return result
}

// isAbout returns what says whether a claim is about what the answer is about.
func isAbout(answer apisv1alpha2.AcceptablePermissionClaim) func(apisv1alpha2.PermissionClaim) bool {
	return func(c apisv1alpha2.PermissionClaim) bool {
		return c.GroupResource == answer.GroupResource && c.IdentityHash == answer.IdentityHash
	}
}

// complaints are what the conditions of an object say is not so, to be put behind
// something else.
func complaints(object *unstructured.Unstructured) string {
	var text strings.Builder
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range list {
		condition, ok := item.(map[string]any)
		if !ok || condition["status"] != string(metav1.ConditionFalse) || condition["message"] == "" {
			continue
		}
		_, _ = fmt.Fprintf(&text, "; %v: %v", condition["type"], condition["message"])
	}
	return text.String()
}
