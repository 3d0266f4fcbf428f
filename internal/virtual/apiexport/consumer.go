package apiexport

import (
	"context"
	"maps"
	"net/http"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// bindingIn returns the binding in a cluster to an export, nil if there is none. It is
// shared and must not be changed. What is in memory may lag behind what somebody has just
// read, so that nobody is sent away before it has been read again: the binding is an old
// one only if that is enough.
func (w *Workspace) bindingIn(ctx context.Context, cluster logicalcluster.Name, e export, enough func(*apisv1alpha2.APIBinding) bool) (*apisv1alpha2.APIBinding, error) {
	all, err := w.APIs.Bindings(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if found := bindingTo(e, cluster, all); found != nil && enough(found) {
		return found, nil
	}
	if all, err = w.APIs.CurrentBindings(ctx, cluster); err != nil {
		return nil, err
	}
	return bindingTo(e, cluster, all), nil
}

// bindingTo returns the one of the bindings of a cluster that is to an export, or nil.
func bindingTo(e export, cluster logicalcluster.Name, all []apisv1alpha2.APIBinding) *apisv1alpha2.APIBinding {
	var found *apisv1alpha2.APIBinding
	for i := range all {
		// Where there are several to one export, only one of them gets anything.
		if b := &all[i]; isTo(b, cluster, e) && (found == nil || len(b.Status.BoundResources) > len(found.Status.BoundResources)) {
			found = b
		}
	}
	return found
}

// gives says whether a binding gives a resource at all, be it with some verbs only.
func gives(b *apisv1alpha2.APIBinding, r *resource) bool {
	if r.claim == nil {
		return binds(b, r.name)
	}
	_, accepted := answerTo(b, r)
	return accepted
}

// isTo says whether a binding in a cluster is to an export. As long as nobody has resolved
// its path only the name of a cluster says so.
func isTo(b *apisv1alpha2.APIBinding, in logicalcluster.Name, e export) bool {
	reference := b.Spec.Reference.Export
	switch {
	case reference == nil || reference.Name != e.Name:
		return false
	case b.Status.APIExportClusterName != "":
		return b.Status.APIExportClusterName == e.cluster.String()
	case reference.Path == "":
		return in == e.cluster
	default:
		return reference.Path == e.cluster.String()
	}
}

// binds says whether a binding has bound a resource.
func binds(b *apisv1alpha2.APIBinding, name apischema.GroupResource) bool {
	return slices.ContainsFunc(b.Status.BoundResources, func(bound apisv1alpha2.BoundAPIResource) bool {
		return bound.Group == name.Group && bound.Resource == name.Resource
	})
}

// answerTo returns how a binding answers the claim of a resource. One that does not accept
// it gives nothing; neither does a nil one.
func answerTo(b *apisv1alpha2.APIBinding, r *resource) (answer apisv1alpha2.AcceptablePermissionClaim, accepted bool) {
	if r.unasked {
		answer.Verbs = readVerbs
		return answer, true
	}
	if b == nil {
		return answer, false
	}
	answer, accepted = permissionclaims.Accepted(b)[permissionclaims.NameOf(*r.claim)]
	return answer, accepted
}

// guard returns what an answer to the claim of a resource gives.
func (r *resource) guard(e export, answer apisv1alpha2.AcceptablePermissionClaim) (*permissionclaims.Guard, error) {
	return permissionclaims.NewGuard(e.cluster, e.Name, *r.claim, answer)
}

// warrantUser is in whose name the virtual workspace vouches for requests.
const warrantUser = "system:serviceaccount:default:rest"

// withWarrant adds to the user of a request that he may do in cluster what its admins may:
// whatever looks at permissions behind authorization lets him, and sees who he is.
func withWarrant(req *http.Request, cluster logicalcluster.Name) *http.Request {
	caller, ok := request.UserFrom(req.Context())
	if !ok {
		return req
	}
	warrant := identity.Warrant{
		User:   warrantUser,
		Groups: []string{identity.Admin},
		Extra:  map[string][]string{identity.ClusterNameKey: {cluster.String()}},
	}
	extra := make(map[string][]string, len(caller.GetExtra())+1)
	maps.Copy(extra, caller.GetExtra())
	extra[identity.WarrantKey] = append(slices.Clone(extra[identity.WarrantKey]), warrant.String())
	vouched := &user.DefaultInfo{Name: caller.GetName(), UID: caller.GetUID(), Groups: caller.GetGroups(), Extra: extra}
	return req.WithContext(request.WithUser(req.Context(), vouched))
}
