package homes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/tenancy/home"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// homeName is the name by which users get their homes.
	homeName = "~"

	// patience is how long a home may take to be ready before that is an error.
	patience = time.Minute

	waitText    = "Creating the home workspace"
	unavailable = "Not available."
)

// errNotYet says that there is something to be waited for.
var errNotYet = errors.New("the home workspace is not ready yet")

// asksForHome says whether a request gets a home.
func asksForHome(req *http.Request) bool {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !info.IsResourceRequest || info.Verb != "get" || info.Name != homeName || info.Subresource != "" {
		return false
	}
	if info.APIGroup != tenancyv1alpha1.GroupName || info.APIVersion != tenancyv1alpha1.GroupVersion.Version || info.Resource != "workspaces" {
		return false
	}
	if _, virtual := route.VirtualFrom(req.Context()); virtual {
		return false
	}
	cluster, ok := logicalcluster.FromContext(req.Context())
	return ok && cluster == logicalcluster.Root
}

func missingPath(req *http.Request) (path logicalcluster.Path, ok bool) {
	if _, virtual := route.VirtualFrom(req.Context()); virtual {
		return logicalcluster.Path{}, false
	}
	return route.MissingFrom(req.Context())
}

// serveHome answers with the home of the caller.
func (h *Homes) serveHome(w http.ResponseWriter, req *http.Request) {
	caller, ok := request.UserFrom(req.Context())
	if !ok {
		responsewriters.InternalError(w, req, errors.New("asking for a home without a user"))
		return
	}
	found, err := h.home(req.Context(), caller)
	if err != nil {
		h.refuse(w, req, caller, err)
		return
	}
	h.config.Catalog.ServeAs(w, req, logicalcluster.Root, catalog.Registries{Resource: &reader{workspace: found.workspace}})
}

// home returns the home of the caller, which is ready. It makes it if need be.
func (h *Homes) home(ctx context.Context, caller user.Info) (*found, error) {
	if err := unfit(caller); err != nil {
		return nil, err
	}
	found, err := h.layout.find(ctx, caller.GetName())
	if apierrors.IsNotFound(err) {
		if err := h.mayCreate(ctx, caller); err != nil {
			return nil, err
		}
		if err := h.layout.create(ctx, caller); err != nil {
			return nil, err
		}
		found, err = h.layout.find(ctx, caller.GetName())
	}
	if apierrors.IsNotFound(err) {
		// It has gone as soon as it came.
		return nil, errNotYet
	}
	if err != nil {
		return nil, err
	}
	return found, h.checkReady(found)
}

// checkReady says what is waited for. What is beyond being initialized is shown as it is.
func (h *Homes) checkReady(found *found) error {
	switch found.workspace.Status.Phase {
	case "", corev1alpha1.PhaseScheduling, corev1alpha1.PhaseInitializing:
	default:
		return nil
	}
	if h.config.Clock.Since(found.since) < patience {
		return errNotYet
	}
	why, _ := conditions.Get(found.workspace, corev1alpha1.WorkspaceInitialized)
	return apierrors.NewInternalError(fmt.Errorf("the home workspace %s is not ready after %s: %s", found.workspace.Spec.Cluster, patience, why.Message))
}

// unfit says why somebody has no home, whatever he may do.
func unfit(caller user.Info) error {
	switch {
	case identity.IsServiceAccount(caller):
		return refusal("service accounts have no home workspace")
	case caller.GetName() == user.Anonymous || identity.InGroup(caller, user.AllUnauthenticated):
		return refusal("nobody has a home workspace without authentication")
	case !identity.InScope(caller, logicalcluster.Root):
		// His name may be one that somebody has claimed in another workspace.
		return refusal("who counts as himself in other workspaces only has no home workspace")
	default:
		if err := home.CheckUser(caller.GetName()); err != nil {
			return refusal(err.Error())
		}
		return nil
	}
}

// serveMissing answers a request to a path at which there is nothing yet. Where the caller's
// own home will be it is made, or what is above it. To everybody else it is a path like any
// other that he may not use.
func (h *Homes) serveMissing(w http.ResponseWriter, req *http.Request, path logicalcluster.Path) {
	caller, ok := request.UserFrom(req.Context())
	if !ok {
		responsewriters.InternalError(w, req, errors.New("asking for a home without a user"))
		return
	}
	buckets, ok := h.layout.(*bucketed)
	if !ok {
		responsewriters.InternalError(w, req, errors.New("a path is missing where no homes are"))
		return
	}
	own, err := buckets.Path(caller.GetName())
	if err != nil || unfit(caller) != nil || !home.Leads(path, own) {
		h.deny(w, req, caller, path)
		return
	}
	if err := h.mayCreate(req.Context(), caller); err != nil {
		h.refuse(w, req, caller, err)
		return
	}
	if err := buckets.createUpTo(req.Context(), caller, path); err != nil {
		h.refuse(w, req, caller, err)
		return
	}
	h.wait(w)
}

// deny answers as authorization does where somebody has no access.
func (h *Homes) deny(w http.ResponseWriter, req *http.Request, caller user.Info, path logicalcluster.Path) {
	if identity.IsMaster(caller) {
		responsewriters.RespondWithError(w, req, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), path.String()), h.config.Serializer)
		return
	}
	attributes, err := filters.GetAuthorizerAttributes(req.Context())
	if err != nil {
		responsewriters.InternalError(w, req, err)
		return
	}
	responsewriters.Forbidden(attributes, w, req, "access denied", h.config.Serializer)
}

// refuse answers with what is in the way of a home.
func (h *Homes) refuse(w http.ResponseWriter, req *http.Request, caller user.Info, err error) {
	var why refusal
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, errNotYet):
		h.wait(w)
	case errors.Is(err, route.ErrUnavailable):
		http.Error(w, unavailable, http.StatusServiceUnavailable)
	case errors.As(err, &why):
		responsewriters.Forbidden(creating(caller), w, req, string(why), h.config.Serializer)
	case errors.As(err, &status):
		responsewriters.RespondWithError(w, req, err, h.config.Serializer)
	default:
		responsewriters.RespondWithError(w, req, apierrors.NewInternalError(fmt.Errorf("making the home workspace: %w", err)), h.config.Serializer)
	}
}

// wait asks the client to come again.
func (h *Homes) wait(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(h.config.RetryAfter.Seconds()))))
	http.Error(w, waitText, http.StatusTooManyRequests)
}
