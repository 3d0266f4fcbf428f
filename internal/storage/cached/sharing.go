package cached

import (
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// mostShared is how many lists of each sort are remembered at a time. What is beyond that
// begins anew.
const mostShared = 4096

// common are the parts of bindings that are equal in many workspaces: what is bound from
// an export, and the conditions that say so. Whoever changes one puts another list in its
// place, as conditions.Set does, or works on a copy.
type common struct {
	mu         sync.Mutex
	bound      map[string][]apisv1alpha2.BoundAPIResource
	conditions map[string]conditions.Conditions
}

var commonInBindings common

// shareBinding lets the parts of a binding be in memory once that others have too.
func (c *common) shareBinding(obj runtime.Object, share func(string) string) {
	b, ok := obj.(*apisv1alpha2.APIBinding)
	if !ok {
		return
	}
	if export := b.Spec.Reference.Export; export != nil {
		export.Path, export.Name = share(export.Path), share(export.Name)
	}
	b.APIVersion, b.Kind = share(b.APIVersion), share(b.Kind)
	b.Status.APIExportClusterName = share(b.Status.APIExportClusterName)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b.Status.BoundResources) > 0 {
		b.Status.BoundResources = remembered(&c.bound, contentOf(b.Status.BoundResources), b.Status.BoundResources)
	}
	if len(b.Status.Conditions) > 0 {
		b.Status.Conditions = remembered(&c.conditions, contentOfConditions(b.Status.Conditions), b.Status.Conditions)
	}
}

// remembered returns the list with this content that is known, or makes list that.
func remembered[L any](known *map[string]L, content string, list L) L {
	if same, ok := (*known)[content]; ok {
		return same
	}
	if *known == nil || len(*known) >= mostShared {
		*known = map[string]L{}
	}
	(*known)[content] = list
	return list
}

// separator stands between the parts of a content, and endOfItem between its items.
const separator, endOfItem = "\x00", "\x01"

func contentOf(all []apisv1alpha2.BoundAPIResource) string {
	var content strings.Builder
	for i := range all {
		bound := &all[i]
		for _, part := range []string{bound.Group, bound.Resource, bound.Schema.Name, bound.Schema.UID, bound.Schema.IdentityHash} {
			content.WriteString(part)
			content.WriteString(separator)
		}
		for _, version := range bound.StorageVersions {
			content.WriteString(version)
			content.WriteString(separator)
		}
		content.WriteString(endOfItem)
	}
	return content.String()
}

func contentOfConditions(all conditions.Conditions) string {
	var content strings.Builder
	for i := range all {
		condition := &all[i]
		for _, part := range []string{
			string(condition.Type), string(condition.Status), string(condition.Severity), condition.Reason, condition.Message,
			strconv.FormatInt(condition.LastTransitionTime.UnixNano(), 10),
		} {
			content.WriteString(part)
			content.WriteString(separator)
		}
		content.WriteString(endOfItem)
	}
	return content.String()
}
