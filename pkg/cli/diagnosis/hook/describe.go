package hook

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Described is what is known of a hook.
type Described struct {
	Kind Kind
	// ID is how logical clusters name it: <cluster>:<type>.
	ID string
	// Name is how people name it, with the path of the type if that is known.
	Name string
	// Path is where the type is, by path or cluster; empty for hooks of the server.
	Path logicalcluster.Path
	// TypeName is the name of its type.
	TypeName string
	// Type is its type, nil if it could not be read, which Err says why. Both are nil for
	// hooks of the server.
	Type *tenancyv1alpha1.WorkspaceType
	Err  error
}

// Gone says that there is no type any more.
func (d Described) Gone() bool { return apierrors.IsNotFound(d.Err) }

// Describe finds out what there is to know of the hook that id names, by the path of its
// type or by the cluster that it is in.
func Describe(ctx context.Context, c *client.Client, kind Kind, id string) Described {
	d := Described{Kind: kind, ID: id, Name: id}
	in, name, ok := Split(id)
	if !ok {
		return d
	}
	d.TypeName = name
	path, err := logicalcluster.ParsePath(in)
	if err != nil {
		d.Err = err
		return d
	}
	d.Path = path
	d.Type, d.Err = client.Get[tenancyv1alpha1.WorkspaceType](ctx, c, path, types, name)
	if d.Type == nil {
		return d
	}
	if cluster := logicalcluster.FromAnnotations(d.Type.Annotations); !cluster.Empty() {
		d.ID = cluster.String() + ":" + name
	}
	if path, err := logicalcluster.ParsePath(d.Type.Annotations[logicalcluster.PathAnnotationKey]); err == nil {
		d.Path = path
	}
	d.Name = d.Path.String() + ":" + name
	return d
}

var types = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")

// Text says what is known of a hook in a few words: its type and how it gets at what is in
// workspaces.
func (d Described) Text() string {
	switch {
	case IsSystem(d.ID):
		return "done by the server"
	case d.Type != nil:
		return "WorkspaceType " + d.Path.String() + "/" + d.TypeName + ", " + d.Kind.Mode(d.Type)
	case d.Gone():
		return "its WorkspaceType is gone"
	default:
		return "its WorkspaceType may not be read"
	}
}
