package hookcontent

import (
	"net/http"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// attempt is a request of somebody who may act for a hook, in a cluster where it may or may
// not be the hook's turn.
type attempt struct {
	hook    tenancy.Hook
	cluster logicalcluster.Name
	// caller is who sent the request, and attributes are what it asks for as him.
	caller     user.Info
	info       *request.RequestInfo
	attributes authorizer.Attributes
	// dry says that nothing is to be stored.
	dry bool
	// granted is how it is served, nil as long as that is not decided.
	granted atomic.Pointer[turn]
}

// isWrite says whether the attempt, if it succeeds, leaves something behind.
func (a *attempt) isWrite() bool {
	if !a.info.IsResourceRequest || a.dry {
		return false
	}
	switch a.info.APIGroup {
	case "authentication.k8s.io", "authorization.k8s.io":
		// Reviews are created to be answered.
		return false
	}
	switch a.info.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	default:
		return false
	}
}

func isDry(req *http.Request) bool { return req.URL.Query().Has("dryRun") }

const metricsPath = "/metrics"

// reachable refuses what is in no workspace: what the process measures, and the
// LogicalCluster, but for reading. It is written at its own place in the virtual workspace,
// under rules that those who may do everything in the workspace have to keep as well.
func reachable(req *http.Request, info *request.RequestInfo) error {
	if !info.IsResourceRequest {
		if path := req.URL.Path; path == metricsPath || strings.HasPrefix(path, metricsPath+"/") {
			return refuse(http.StatusNotImplemented, "", "shard-level endpoint not available at workspace scope")
		}
		return nil
	}
	resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	if resource != corev1alpha1.Resource("logicalclusters") {
		return nil
	}
	switch info.Verb {
	case "get", "list", "watch":
		return nil
	default:
		return apierrors.NewMethodNotSupported(resource, info.Verb)
	}
}
