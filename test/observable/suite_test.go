package observable

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// suite is the server that tests share.
type suite struct{ *servertest.Server }

// TestStatements runs the tests that share a server.
func TestStatements(t *testing.T) {
	s := &suite{servertest.Start(t, servertest.WithUsers(t))}
	// The group ends when all in it have, and only then the server may.
	t.Run("Shared", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){
			"EmptyingWaits":     s.emptyingWaits,
			"ForeignFinalizers": s.foreignFinalizers,
			"NestedDeletion":    s.nestedDeletion,
			"OwnDeletion":       s.ownDeletion,
			"DeletionUnderLoad": s.deletionUnderLoad,
			"LateWrite":         s.lateWrite,
			"Entering":          s.entering,
			"RulesReview":       s.rulesReview,
			"GlobalRoles":       s.globalRoles,
			"RequiredGroups":    s.requiredGroups,
			"Reviews":           s.reviews,
			"Impersonation":     s.impersonation,
			"Identities":        s.identities,
			"Inactive":          s.inactive,
			"Addresses":         s.addresses,
			"Health":            s.health,
			"Metrics":           s.metrics,
			"Wildcard":          s.wildcard,
			"ClusterAnnotation": s.clusterAnnotation,
			"BuiltinResources":  s.builtinResources,
			"OpenAPIPaths":      s.openAPIPaths,
			"TwoSchemas":        s.twoSchemas,
			"ResourceClusters":  s.resourceClusters,
			"Chunks":            s.chunks,
			"WatchLists":        s.watchLists,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
}

// The callers of tests: the administrators of the kubeconfig, and users by token.
const (
	admin      = "kcp-admin"
	privileged = "shard-admin"
	anonymous  = ""
)

// tenant is a caller in a workspace.
type tenant struct {
	objects
	kube kubernetes.Interface
}

// in returns a caller in a workspace, given by path or name.
func (s *suite) in(t *testing.T, caller, workspace string) *tenant {
	t.Helper()
	config := s.configOf(t, caller, workspace)
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &tenant{objects: newObjects(t, config), kube: kube}
}

func (s *suite) configOf(t *testing.T, caller, workspace string) *rest.Config {
	t.Helper()
	switch caller {
	case admin:
		return s.In(t, "base", workspace)
	case privileged:
		return s.In(t, "shard-base", workspace)
	case anonymous:
		return s.As(t, "", workspace)
	default:
		return s.As(t, caller+"-token", workspace)
	}
}

// organization makes a workspace below root and returns its path.
func (s *suite) organization(t *testing.T) string {
	t.Helper()
	return "root:" + s.Workspace(t, "root", "").Name
}

// child makes a workspace in another and returns its path.
func (s *suite) child(t *testing.T, parent, name string) string {
	t.Helper()
	return parent + ":" + s.Workspace(t, parent, name).Name
}

// grant gives a user a ClusterRole in a workspace and waits until it is in force.
func (s *suite) grant(t *testing.T, workspace, user, role string) {
	t.Helper()
	in := s.in(t, admin, workspace)
	in.must(t, in.create(t, binding(user+"-"+lastOf(role), role, "User", user)))
	servertest.Eventually(t, "the binding is in force", func() (bool, any) {
		err := s.in(t, user, workspace).kube.Discovery().RESTClient().Get().AbsPath("/version").Do(t.Context()).Error()
		return err == nil, err
	})
}

// gone waits until an object is not there any more.
func (c *tenant) gone(t *testing.T, kind, name string) {
	t.Helper()
	servertest.Eventually(t, kind+" "+name+" is gone", func() (bool, any) {
		r := c.get(t, kind, name)
		return r.err != nil, r
	})
	c.refused(t, "it is gone", c.get(t, kind, name), metav1.StatusReasonNotFound, "")
}

// eventuallyCreated creates an object; what it takes may not be served yet.
func (c *tenant) eventuallyCreated(t *testing.T, manifest string) (created result) {
	t.Helper()
	servertest.Eventually(t, "creating it", func() (bool, any) {
		created = c.create(t, manifest)
		return created.err == nil, created.err
	})
	return created
}
