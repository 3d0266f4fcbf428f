package ownapis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var (
	ofShards   = []string{"shards"}
	ofTenancy  = []string{"workspaces", "workspacetypes", "workspaceauthenticationconfigurations"}
	ofTopology = []string{"partitions", "partitionsets"}
)

// TestRoot is what clients that know kcp find in root: the exports, their schemas and
// identities, and bindings of the same names.
func TestRoot(t *testing.T) {
	s := servertest.Start(t)
	root := in(t, s, "root")
	identities := map[string]string{}
	for name, resources := range map[string][]string{"shards.core.kcp.io": ofShards, "tenancy.kcp.io": ofTenancy, "topology.kcp.io": ofTopology} {
		export := get[apisv1alpha2.APIExport](root, exports, name)
		var offered []string
		for _, resource := range export.Spec.Resources {
			offered = append(offered, resource.Name)
			described := get[apisv1alpha1.APIResourceSchema](root, schemas, resource.Schema)
			if described.Spec.Names.Plural != resource.Name || described.Spec.Group != resource.Group ||
				!strings.HasSuffix(described.Name, "."+resource.Name+"."+resource.Group) {
				t.Errorf("schema %s does not describe %s.%s", described.Name, resource.Name, resource.Group)
			}
		}
		if diff := cmp.Diff(resources, offered); diff != "" {
			t.Errorf("%s offers something else (-want +got):\n%s", name, diff)
		}
		if bounded := export.Spec.MaximalPermissionPolicy != nil; bounded != (name != "shards.core.kcp.io") {
			t.Errorf("%s: maximal permission policy: %t", name, bounded)
		}
		secret, err := privileged(t, s, "root").client.Resource(secrets).Namespace("kcp-system").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if hash := apihash.Identity(into[corev1.Secret](t, secret).Data["key"]); hash != export.Status.IdentityHash {
			t.Errorf("%s: the identity is %s, its secret makes %s", name, export.Status.IdentityHash, hash)
		}
		if !conditions.IsTrue(&export, apisv1alpha1.APIExportIdentityValid) {
			t.Errorf("%s: %v", name, export.Status.Conditions)
		}
		identities[name] = export.Status.IdentityHash
	}
	if diff := cmp.Diff([]string{"shards.core.kcp.io", "tenancy.kcp.io", "topology.kcp.io"}, root.names(bindings)); diff != "" {
		t.Errorf("bindings of root (-want +got):\n%s", diff)
	}
	for name, b := range root.bindings() {
		checkBound(t, b, identities[name])
		if b.Spec.Reference.Export.Path != "root" {
			t.Errorf("%s refers to %q", name, b.Spec.Reference.Export.Path)
		}
	}
	for _, resource := range []string{"shards", "logicalclusters"} {
		if !root.serves(corev1alpha1.GroupVersion.WithResource(resource)) {
			t.Errorf("root does not serve %s", resource)
		}
	}

	shard := privileged(t, s, "system:shard")
	if diff := cmp.Diff([]string{"shards.core.kcp.io", "tenancy.kcp.io", "topology.kcp.io"}, shard.names(bindings)); diff != "" {
		t.Errorf("bindings of system:shard (-want +got):\n%s", diff)
	}
	if shards := root.names(corev1alpha1.GroupVersion.WithResource("shards")); len(shards) != 1 {
		t.Errorf("shards: %v", shards)
	}
}

// checkBound checks that a binding is bound, to the export with an identity.
func checkBound(t testing.TB, b apisv1alpha2.APIBinding, identity string) {
	t.Helper()
	if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound || b.Status.APIExportClusterName != "root" {
		t.Errorf("%s is %+v", b.Name, b.Status)
	}
	for _, condition := range []conditions.Type{
		"Ready", apisv1alpha1.APIExportValid, apisv1alpha1.InitialBindingCompleted, apisv1alpha1.BindingUpToDate,
	} {
		if !conditions.IsTrue(&b, condition) {
			t.Errorf("%s: %s is not True: %v", b.Name, condition, b.Status.Conditions)
		}
	}
	for _, bound := range b.Status.BoundResources {
		if bound.Schema.IdentityHash != identity || len(bound.StorageVersions) != 1 {
			t.Errorf("%s: %+v, want identity %s", b.Name, bound, identity)
		}
	}
}

// TestRestart: a server that starts again finds what the first has made, and changes
// nothing of it.
func TestRestart(t *testing.T) {
	directory := t.TempDir()
	before := func() map[string]string {
		s := servertest.StartIn(t, directory)
		defer s.Stop()
		s.Workspace(t, "root", "kept")
		return versions(t, s)
	}()
	s := servertest.StartIn(t, directory)
	if diff := cmp.Diff(before, versions(t, s)); diff != "" {
		t.Errorf("a restart has written (-before +after):\n%s", diff)
	}
	kept := in(t, s, "root:kept")
	kept.mustCreate(workspaces, child("below", "root", "universal"))
	kept.ready("below")
}

// versions returns the resource versions of what sharing our own APIs is made of.
func versions(t testing.TB, s *servertest.Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, cluster := range []string{"root", "root:kept", "system:shard"} {
		w := privileged(t, s, cluster)
		for _, resource := range []string{"apibindings", "apiexports"} {
			list, err := w.client.Resource(apisv1alpha2.GroupVersion.WithResource(resource)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range list.Items {
				all[cluster+" "+resource+" "+item.GetName()] = item.GetResourceVersion()
			}
		}
		for _, name := range w.names(schemas) {
			all[cluster+" schema "+name] = get[metav1.PartialObjectMetadata](w, schemas, name).ResourceVersion
		}
	}
	return all
}

// TestPolicyOfRoot: what somebody may do with our own APIs in a workspace of his is bounded
// by root.
func TestPolicyOfRoot(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	in(t, s, "root").allow("use", "user-1", "tenancy.kcp.io", "workspaces", "create", "get")
	ws, err := servertest.CreateWorkspace(t.Context(), s.As(t, "user-1-token", "root"), newWorkspace("mine"))
	if err != nil {
		t.Fatal(err)
	}
	mine := as(t, s.As(t, "user-1-token", ws.Spec.Cluster), ws.Spec.Cluster)
	mine.mustCreate(workspaces, child("below", "root", "universal"))
	mine.ready("below")
	if b := mine.bindings()["tenancy.kcp.io"]; b.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		t.Errorf("a user who may create workspaces gets the APIs of the type, got %+v", b.Status)
	}
	below, err := mine.client.Resource(workspaces).Get(t.Context(), "below", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.client.Resource(workspaces).UpdateStatus(t.Context(), below, metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the owner of a workspace writes the status of those in it: %v", err)
	}
	if _, err := privileged(t, s, ws.Spec.Cluster).client.Resource(workspaces).UpdateStatus(t.Context(), below, metav1.UpdateOptions{}); err != nil {
		t.Errorf("those whom nothing is denied do: %v", err)
	}
}
