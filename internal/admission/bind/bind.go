package bind

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/exportref"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// verb is what a user needs on an export to bind it.
const verb = "bind"

// Authorizer answers what users may do in other logical clusters.
type Authorizer interface {
	// AllowedIn says whether the policy of cluster allows what attributes ask for,
	// whether or not the user may enter cluster.
	AllowedIn(ctx context.Context, cluster logicalcluster.Name, attributes authorizer.Attributes) (bool, error)
}

// Target is an export that may be bound, or the place where one of that name would be.
type Target struct {
	Cluster logicalcluster.Name
	Export  string
}

// Access finds exports and asks who may bind them.
type Access struct {
	// Exports must know every export that a client has been told of.
	Exports *exportref.Resolver
	// Authorizer is asked.
	Authorizer Authorizer
}

// Find returns the export that path and name mean in an object of the cluster of ctx, nil
// if they lead nowhere. The own workspace and root are known to be there, so that nothing
// is told by letting an object wait for an export in them.
func (c Access) Find(ctx context.Context, path, name string) (*Target, error) {
	from, err := request.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	var cluster logicalcluster.Name
	if path == "" || path == logicalcluster.Root.String() {
		cluster, err = c.Exports.Cluster(ctx, from, path)
	} else {
		cluster, _, err = c.Exports.Export(ctx, from, path, name)
	}
	switch {
	case exportref.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &Target{Cluster: cluster, Export: name}, nil
}

// Check refuses the request, to create or update an object of that kind which refers to an
// export by path and name, unless the caller may bind what Find has found.
func (c Access) Check(ctx context.Context, a admission.Attributes, kind, path, name string, found *Target) error {
	if found != nil {
		allowed, err := Allowed(ctx, c.Authorizer, a, found.Cluster, found.Export)
		if err != nil {
			return request.Failed(a, err)
		}
		if allowed {
			return nil
		}
	}
	action := "create"
	if a.GetOperation() == admission.Update {
		action = "update"
	}
	return request.Denied(a, "unable to %s %s: no permission to bind to export %s", action, kind, exportref.Reference(path, name))
}

// Allowed says whether the caller of a may bind the export of that name in cluster,
// existing or not.
func Allowed(ctx context.Context, authorize Authorizer, a admission.Attributes, cluster logicalcluster.Name, export string) (bool, error) {
	return authorize.AllowedIn(ctx, cluster, authorizer.AttributesRecord{
		User:            a.GetUserInfo(),
		Verb:            verb,
		APIGroup:        apisv1alpha2.GroupName,
		APIVersion:      apisv1alpha2.GroupVersion.Version,
		Resource:        "apiexports",
		Name:            export,
		ResourceRequest: true,
	})
}
