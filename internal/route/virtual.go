package route

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const servicesPrefix = "/services/"

// VirtualWorkspace is what a URL /services/<name>/<segments>/clusters/<cluster>/<rest>
// says before its cluster, which is in the context as that of any other request.
//
// It is no proof of anything: whether there is such a workspace, and who may use it, is
// decided behind authentication.
type VirtualWorkspace struct {
	// Name says what kind of virtual workspace it is. It is empty if the URL is that of
	// none; it has not been taken apart then, and there is no cluster.
	Name string
	// Segments follow the name, as many as the kind asks for, spelled as in the URL.
	Segments []string
	// Home is the logical cluster that the first segment leads to, as the form of the kind
	// has it. It is the zero Name if that leads nowhere.
	Home logicalcluster.Name
}

// VirtualForm is what URLs of one kind of virtual workspace look like.
type VirtualForm struct {
	// Segments is how many segments follow the name.
	Segments int
	// Home returns the cluster that the first segment belongs to, the zero Name if that is
	// none. Clusters are given by name then, and paths lead nowhere. If it is nil, the
	// first segment is a path or a name, and so is what follows /clusters/.
	Home func(segment string) logicalcluster.Name
}

// VirtualForms returns the form of a kind; ok is false if there is no such kind.
type VirtualForms func(name string) (form VirtualForm, ok bool)

type virtualWorkspaceKey struct{}

// NewVirtualContext returns a copy of ctx that carries workspace.
func NewVirtualContext(ctx context.Context, workspace VirtualWorkspace) context.Context {
	return context.WithValue(ctx, virtualWorkspaceKey{}, workspace)
}

// VirtualFrom returns the virtual workspace that a request is to. ok is false for all
// requests that are not below /services/.
func VirtualFrom(ctx context.Context) (workspace VirtualWorkspace, ok bool) {
	workspace, ok = ctx.Value(virtualWorkspaceKey{}).(VirtualWorkspace)
	return workspace, ok
}

// SplitVirtual takes a path of the form /services/<name>/<segments>/clusters/<path>/<rest>
// apart. ok is false for kinds that there are not, and for paths of another form.
func SplitVirtual(u *url.URL, forms VirtualForms) (workspace VirtualWorkspace, path logicalcluster.Path, rest *url.URL, ok bool) {
	// As in Split the escaped form is looked at. Nothing up to the cluster may have an
	// escape, so that this much of the path is as long in both forms.
	remainder, ok := strings.CutPrefix(u.EscapedPath(), servicesPrefix)
	if !ok {
		return VirtualWorkspace{}, logicalcluster.Path{}, nil, false
	}
	workspace.Name, remainder, _ = strings.Cut(remainder, "/")
	form, ok := forms(workspace.Name)
	if !ok {
		return VirtualWorkspace{}, logicalcluster.Path{}, nil, false
	}
	length := len(servicesPrefix) + len(workspace.Name)
	for range form.Segments {
		segment, after, found := strings.Cut(remainder, "/")
		if !found || segment == "" || strings.Contains(segment, "%") {
			return VirtualWorkspace{}, logicalcluster.Path{}, nil, false
		}
		workspace.Segments = append(workspace.Segments, segment)
		length += 1 + len(segment)
		remainder = after
	}
	inside := *u
	inside.Path = u.Path[length:]
	if u.RawPath != "" {
		inside.RawPath = u.RawPath[length:]
	}
	path, rest, ok, err := Split(&inside)
	if !ok || err != nil {
		return VirtualWorkspace{}, logicalcluster.Path{}, nil, false
	}
	return workspace, path, rest, true
}

// WithVirtualWorkspaces takes what names a virtual workspace, and the cluster, off the
// URLs below /services/, puts both into the context and goes on with virtual. All other
// requests go on with next.
//
// Nobody learns here whether a path leads anywhere: where it does not the request goes on
// without a cluster, or without a home, and is refused by authorization as others are.
func WithVirtualWorkspaces(next, virtual http.Handler, resolver *Resolver, forms VirtualForms, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, servicesPrefix) {
			next.ServeHTTP(w, r)
			return
		}
		workspace, path, rest, ok := SplitVirtual(r.URL, forms)
		if !ok {
			virtual.ServeHTTP(w, r.WithContext(NewVirtualContext(r.Context(), VirtualWorkspace{})))
			return
		}
		form, _ := forms(workspace.Name)
		cluster, home, err := resolver.follow(r.Context(), form, workspace, path)
		workspace.Home = home
		if err != nil {
			writeError(w, r, errorCodec, err)
			return
		}
		ctx := NewVirtualContext(r.Context(), workspace)
		if !cluster.Empty() {
			ctx = logicalcluster.NewContext(ctx, cluster)
		}
		inner := r.WithContext(ctx)
		inner.URL, inner.RequestURI = rest, rest.RequestURI()
		virtual.ServeHTTP(w, inner)
	})
}

// follow returns the cluster that a URL is to, and the home of the virtual workspace. What
// leads nowhere is the zero Name.
func (r *Resolver) follow(ctx context.Context, form VirtualForm, workspace VirtualWorkspace, path logicalcluster.Path) (cluster, home logicalcluster.Name, err error) {
	if form.Home != nil {
		cluster, _ = path.Name()
		return cluster, form.Home(workspace.Segments[0]), nil
	}
	cluster, err = r.quietly(ctx, path)
	if err == nil && len(workspace.Segments) > 0 {
		home, err = r.home(ctx, workspace.Segments[0])
	}
	return cluster, home, err
}

// quietly is Resolve for those who must not learn whether a path leads anywhere: if it does
// not the cluster is the zero Name.
func (r *Resolver) quietly(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	cluster, err := r.Resolve(ctx, path)
	if apierrors.IsNotFound(err) || errors.Is(err, ErrUnavailable) {
		return logicalcluster.Name{}, nil
	}
	return cluster, err
}

// home returns the cluster that a segment leads to, which must be one.
func (r *Resolver) home(ctx context.Context, segment string) (logicalcluster.Name, error) {
	path, err := logicalcluster.ParsePath(segment)
	if err != nil {
		return logicalcluster.Name{}, nil //nolint:nilerr // because what is no path leads nowhere
	}
	cluster, err := r.quietly(ctx, path)
	if cluster.IsWildcard() {
		return logicalcluster.Name{}, err
	}
	return cluster, err
}

// targetKey is where AtHome keeps the cluster that a request is to.
type targetKey struct{}

// AtHome makes requests to virtual workspaces be, for the filters up to AtTarget, requests
// to the cluster that the virtual workspace belongs to: its policy says who may be
// impersonated, and its seats are taken. Other requests stay as they are.
func AtHome(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		workspace, ok := VirtualFrom(r.Context())
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		target, _ := logicalcluster.FromContext(r.Context())
		ctx := context.WithValue(r.Context(), targetKey{}, target)
		next.ServeHTTP(w, r.WithContext(logicalcluster.NewContext(ctx, workspace.Home)))
	})
}

// AtTarget undoes what AtHome has done.
func AtTarget(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target, ok := r.Context().Value(targetKey{}).(logicalcluster.Name); ok {
			r = r.WithContext(logicalcluster.NewContext(r.Context(), target))
		}
		next.ServeHTTP(w, r)
	})
}

// WithoutVirtual returns a copy of ctx in which a request to a virtual workspace is one to
// the cluster that it is in, as others are.
func WithoutVirtual(ctx context.Context) context.Context {
	return context.WithValue(ctx, virtualWorkspaceKey{}, nil)
}
