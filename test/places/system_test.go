package places

import (
	"net/http"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// systemClusters are those that every shard has.
var systemClusters = []string{"system:admin", "system:shard", "system:system-crds", "system:bound-crds"}

// TestSystemWorkspaces is row 61, and what the clusters of the system hold. They are no
// workspaces: no object leads to them, and nothing of a workspace is in them.
func TestSystemWorkspaces(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t)))
	t.Run("OnlyPrivileged", func(t *testing.T) { onlyPrivileged(t, s) })
	t.Run("Admin", func(t *testing.T) { systemAdmin(t, s) })
	t.Run("Shard", func(t *testing.T) { systemShard(t, s) })
	t.Run("BoundDefinitions", func(t *testing.T) { boundDefinitions(t, s) })
	t.Run("NoWorkspaces", func(t *testing.T) { noWorkspaces(t, s) })
}

func onlyPrivileged(t *testing.T, s *suite) {
	for _, cluster := range append(systemClusters, "system:anything") {
		for _, path := range []string{"/api/v1/namespaces", "/api", "/version", clusterAPI, "/openapi/v3"} {
			for _, token := range []string{alice, s.admin, ""} {
				s.as(t, token, cluster).get(path).is(t, 403, "access denied")
			}
		}
		s.as(t, s.master, cluster).get("/api/v1/namespaces").is(t, 200)
	}
	// Whatever somebody is given there, he does not get in.
	s.as(t, s.master, "system:shard").admit(aliceName)
	s.as(t, alice, "system:shard").get("/api/v1/namespaces").is(t, 403, "access denied")
}

func systemAdmin(t *testing.T, s *suite) {
	inside := s.as(t, s.master, "system:admin")
	for _, namespace := range []string{"default", "kube-public", "kube-system"} {
		inside.get("/api/v1/namespaces/"+namespace).is(t, 200, `"Active"`)
	}
	role := read[rbacv1.ClusterRole](inside, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kcp:tenancy:reader")
	if len(role.Rules) == 0 {
		t.Errorf("got %+v", role)
	}
	inside.post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", `{"metadata":{"name":"kcp-controllers"},"spec":{"holderIdentity":"me"}}`).must(t)
	inside.get(clusterAPI).is(t, 404)
	inside.get(tenancyAPI+"/workspaces").is(t, 404)
}

func systemShard(t *testing.T, s *suite) {
	inside := s.as(t, s.master, "system:shard")
	lc := inside.cluster()
	if lc.Status.Phase != corev1alpha1.PhaseReady || lc.Spec.Owner != nil {
		t.Errorf("got %+v", lc)
	}
	inside.get("/api/v1/namespaces/default").is(t, 200)
	for _, name := range []string{"tenancy.kcp.io", "topology.kcp.io", "shards.core.kcp.io"} {
		servertest.Eventually(t, name+" is bound", func() (bool, any) {
			binding := read[apisv1alpha2.APIBinding](inside, "/apis/apis.kcp.io/v1alpha2/apibindings/"+name)
			return binding.Status.Phase == apisv1alpha2.APIBindingPhaseBound, binding.Status
		})
	}
	inside.get(shardAPI).is(t, 200)
}

func boundDefinitions(t *testing.T, s *suite) {
	provider, consumer := s.universal(t, aliceName), s.universal(t, aliceName)
	servertest.Export(t, s.as(t, alice, provider).config, "cowboys", nil, servertest.CowboySchema())
	servertest.Bind(t, s.as(t, alice, consumer).config, provider, "cowboys")
	uid := read[apisv1alpha2.APIBinding](s.as(t, alice, consumer), "/apis/apis.kcp.io/v1alpha2/apibindings/cowboys").Status.BoundResources[0].Schema.UID
	crd := read[apiextensionsv1.CustomResourceDefinition](s.as(t, s.master, "system:bound-crds"), "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+uid)
	if crd.Spec.Names.Plural != "cowboys" {
		t.Errorf("got %+v", crd.Spec.Names)
	}
	for _, cluster := range systemClusters {
		s.as(t, s.master, cluster).get("/apis/apis.kcp.io/v1alpha2/apiexports").is(t, 200)
	}
}

// noWorkspaces shows that system clusters are not to be had by ways that lead to workspaces.
func noWorkspaces(t *testing.T, s *suite) {
	for _, path := range []string{"root:system:admin", "system:admin:child"} {
		if a := s.as(t, s.admin, path).get("/api"); a.code != http.StatusNotFound && a.code != http.StatusForbidden {
			t.Errorf("%s: got %d %s", path, a.code, a.body)
		}
	}
	s.as(t, s.admin, "root").create("system:admin", `{"type":{"name":"universal","path":"root"}}`).is(t, 422)
	s.as(t, s.admin, "root").create("typed", `{"type":{"name":"universal","path":"system:admin"}}`).is(t, 403)
	s.as(t, s.master, "system:admin").create("child", `{"type":{"name":"universal","path":"root"}}`).is(t, 404)
	// The shard's own cluster has the API, but is of no type and no workspace.
	s.as(t, s.master, "system:shard").create("child", `{}`).is(t, 403)
}
