package apis

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	v1, v2 = "/apis/apis.kcp.io/v1alpha1", "/apis/apis.kcp.io/v1alpha2"
	rbac   = "/apis/rbac.authorization.k8s.io/v1"
)

// suite is a running server.
type suite struct{ server *servertest.Server }

// behavior is something that clients rely on.
type behavior func(t *testing.T, s suite)

// TestKinds runs all behaviors against one server, each in workspaces of its own.
func TestKinds(t *testing.T) {
	s := suite{server: servertest.Start(t, servertest.WithUsers(t))}
	for area, behaviors := range map[string]map[string]behavior{
		"Schemas":    schemaBehaviors,
		"Exports":    exportBehaviors,
		"Bindings":   bindingBehaviors,
		"Slices":     sliceBehaviors,
		"Versions":   versionBehaviors,
		"References": referenceBehaviors,
	} {
		t.Run(area, func(t *testing.T) {
			for name, test := range behaviors {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, s)
				})
			}
		})
	}
}

// place is a workspace.
type place struct{ path, cluster string }

// workspace makes a workspace with administrators.
func (s suite) workspace(t *testing.T, admins ...string) place {
	t.Helper()
	ws := s.server.Workspace(t, "root", "")
	p := place{path: "root:" + ws.Name, cluster: ws.Spec.Cluster}
	for _, name := range admins {
		as(t, s.server, master, p.path).must(http.StatusCreated, "POST", rbac+"/clusterrolebindings", fmt.Sprintf(
			`{metadata: {generateName: test-}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin},
			subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}`, name))
	}
	return p
}

// mayBind lets a user bind an export of a workspace.
func (s suite) mayBind(t *testing.T, p place, user, export string) {
	t.Helper()
	c := as(t, s.server, master, p.path)
	role := "bind-" + export + "-" + user
	c.must(http.StatusCreated, "POST", rbac+"/clusterroles", fmt.Sprintf(
		`{metadata: {name: %s}, rules: [{apiGroups: [apis.kcp.io], resources: [apiexports], verbs: [bind], resourceNames: [%s]}]}`, role, export))
	c.must(http.StatusCreated, "POST", rbac+"/clusterrolebindings", fmt.Sprintf(
		`{metadata: {name: %[1]s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s},
		subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[2]s}]}`, role, user))
}
