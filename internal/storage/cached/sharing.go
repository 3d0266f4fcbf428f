package cached

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// mostShared is how many parts of each sort are remembered at a time. What is beyond that
// begins anew.
const mostShared = 4096

// common are the parts of our own objects that are equal in many workspaces: who has made
// them, what is bound from an export and the labels of such bindings, and conditions.
// Whoever changes one puts another in its place, as conditions.Set does, or works on a copy.
type common struct {
	mu         sync.Mutex
	bound      map[string][]apisv1alpha2.BoundAPIResource
	labels     map[string]map[string]string
	conditions map[string]conditions.Conditions
	users      map[string]*authenticationv1.UserInfo
}

var commonInOurs common

// Forget forgets what is remembered to be shared. Objects that share something go on doing
// so. It is for a server that has stopped, whose parts nobody else may ever have: their
// names and times are its own.
func Forget() {
	c := &commonInOurs
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bound, c.labels, c.conditions, c.users = nil, nil, nil, nil
}

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
	if len(b.Labels) > 0 {
		b.Labels = remembered(&c.labels, contentOfLabels(b.Labels), b.Labels)
	}
	b.Status.Conditions = c.shareConditions(b.Status.Conditions)
}

// shareLogicalCluster does the same for a LogicalCluster.
func (c *common) shareLogicalCluster(obj runtime.Object, share func(string) string) {
	lc, ok := obj.(*corev1alpha1.LogicalCluster)
	if !ok {
		return
	}
	lc.APIVersion, lc.Kind = share(lc.APIVersion), share(lc.Kind)
	if owner := lc.Spec.Owner; owner != nil {
		owner.APIVersion, owner.Resource, owner.Cluster = share(owner.APIVersion), share(owner.Resource), share(owner.Cluster)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if lc.Spec.CreatedBy != nil {
		lc.Spec.CreatedBy = remembered(&c.users, contentOfUser(lc.Spec.CreatedBy), lc.Spec.CreatedBy)
	}
	lc.Status.Conditions = c.shareConditions(lc.Status.Conditions)
}

// shareWorkspace does the same for a Workspace.
func (c *common) shareWorkspace(obj runtime.Object, share func(string) string) {
	ws, ok := obj.(*tenancyv1alpha1.Workspace)
	if !ok {
		return
	}
	ws.APIVersion, ws.Kind = share(ws.APIVersion), share(ws.Kind)
	if t := ws.Spec.Type; t != nil {
		t.Path = share(t.Path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ws.Status.Conditions = c.shareConditions(ws.Status.Conditions)
}

// shareConditions returns conditions that equal all. The caller holds the lock.
func (c *common) shareConditions(all conditions.Conditions) conditions.Conditions {
	if len(all) == 0 {
		return all
	}
	return remembered(&c.conditions, contentOfConditions(all), all)
}

// remembered returns the part with this content that is known, or makes part that.
func remembered[P any](known *map[string]P, content string, part P) P {
	if same, ok := (*known)[content]; ok {
		return same
	}
	if *known == nil || len(*known) >= mostShared {
		*known = map[string]P{}
	}
	(*known)[content] = part
	return part
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

func contentOfLabels(labels map[string]string) string {
	var content strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		content.WriteString(key)
		content.WriteString(separator)
		content.WriteString(labels[key])
		content.WriteString(endOfItem)
	}
	return content.String()
}

func contentOfUser(user *authenticationv1.UserInfo) string {
	var content strings.Builder
	// What a user is called may hold anything, so each part says how long it is.
	write := func(parts ...string) {
		content.WriteString(strconv.Itoa(len(parts)))
		for _, part := range parts {
			content.WriteString(separator)
			content.WriteString(strconv.Itoa(len(part)))
			content.WriteString(separator)
			content.WriteString(part)
		}
		content.WriteString(endOfItem)
	}
	write(user.Username, user.UID)
	write(user.Groups...)
	for _, key := range slices.Sorted(maps.Keys(user.Extra)) {
		write(append([]string{key}, user.Extra[key]...)...)
	}
	return content.String()
}
