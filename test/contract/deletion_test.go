package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// held is a finalizer of somebody else.
const held = "example.com/held"

var deletion = map[string]behavior{
	"ContentWithFinalizer":   {"a workspace waits for finalizers in it and says for which", contentWithFinalizer},
	"HeldLogicalCluster":     {"finalizers of others keep a logical cluster, and its workspace", heldLogicalCluster},
	"HeldWorkspace":          {"nothing is deleted in a workspace that somebody holds", heldWorkspace},
	"Nested":                 {"nothing remains of an organization", nestedDeletion},
	"DefaultNamespace":       {"namespaces that everything counts on stay", defaultNamespace},
	"LogicalClusterDirectly": {"logical clusters come and go with workspaces, unless they say otherwise", logicalClusterDirectly},
	"OwnFinalizer":           {"the finalizer that guards the content cannot be dropped", ownFinalizer},
}

// setFinalizers is a patch.
func setFinalizers(finalizers ...string) []byte {
	if finalizers == nil {
		finalizers = []string{}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
	if err != nil {
		panic(err)
	}
	return patch
}

func contentWithFinalizer(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	ws := parent.workspace()
	inside := s.as(t, alice, path+":"+ws.Name).kube().CoreV1()
	_, err := inside.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: []string{held}},
	}, metav1.CreateOptions{})
	ok(t, err)
	_, err = inside.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "free"}}, metav1.CreateOptions{})
	ok(t, err)
	ok(t, parent.workspaces().Delete(t.Context(), ws.Name, metav1.DeleteOptions{}))
	eventually(t, "the workspace says what it waits for", func() error {
		ws, err := parent.workspaces().Get(t.Context(), ws.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c, has := conditions.Get(ws, corev1alpha1.WorkspaceContentDeleted)
		if !has || c.Status != "False" || c.Reason != corev1alpha1.ReasonSomeResourcesRemain {
			return fmt.Errorf("conditions %v", ws.Status.Conditions)
		}
		says(t, c.Message, held+" in 1 resource instances")
		return nil
	})
	eventually(t, "what is not held goes", func() error {
		_, err := inside.ConfigMaps("default").Get(t.Context(), "free", metav1.GetOptions{})
		return missing(err)
	})
	_, err = inside.ConfigMaps("default").Patch(t.Context(), "kept", apitypes.MergePatchType, setFinalizers(), metav1.PatchOptions{})
	ok(t, err)
	parent.gone(ws.Name)
}

func heldLogicalCluster(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	ws := parent.workspace()
	inside := s.as(t, s.admin, ws.Spec.Cluster)
	_, err := inside.patchCluster(string(setFinalizers(held)))
	ok(t, err)
	ok(t, parent.workspaces().Delete(t.Context(), ws.Name, metav1.DeleteOptions{}))
	eventually(t, "only the foreign finalizer is left", func() error {
		lc, err := inside.clusters().Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
		if err == nil && !slices.Equal(lc.Finalizers, []string{held}) {
			err = fmt.Errorf("finalizers %v", lc.Finalizers)
		}
		return err
	})
	_, err = parent.workspaces().Get(t.Context(), ws.Name, metav1.GetOptions{})
	ok(t, err)
	_, err = inside.patchCluster(string(setFinalizers()))
	ok(t, err)
	parent.gone(ws.Name)
}

func heldWorkspace(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	ws := parent.workspace()
	finalizers := append(slices.Clone(ws.Finalizers), held)
	_, err := parent.workspaces().Patch(t.Context(), ws.Name, apitypes.MergePatchType, setFinalizers(finalizers...), metav1.PatchOptions{})
	ok(t, err)
	ok(t, parent.workspaces().Delete(t.Context(), ws.Name, metav1.DeleteOptions{}))
	// Time in which the server deletes other workspaces would do for this one.
	for range 3 {
		other := parent.workspace()
		ok(t, parent.workspaces().Delete(t.Context(), other.Name, metav1.DeleteOptions{}))
		parent.gone(other.Name)
	}
	if lc := s.as(t, s.admin, ws.Spec.Cluster).cluster(); lc.DeletionTimestamp != nil {
		t.Errorf("the logical cluster is being deleted: %v", lc)
	}
	_, err = parent.workspaces().Patch(t.Context(), ws.Name, apitypes.MergePatchType, setFinalizers(ws.Finalizers...), metav1.PatchOptions{})
	ok(t, err)
	parent.gone(ws.Name)
}

func nestedDeletion(t *testing.T, s *suite) {
	root := s.as(t, s.admin, "root")
	organization := root.workspace(ofType("root", "organization"))
	path, clusters := "root:"+organization.Name, []string{organization.Spec.Cluster}
	for range 2 {
		ws := s.as(t, s.admin, path).workspace()
		path += ":" + ws.Name
		clusters = append(clusters, ws.Spec.Cluster)
	}
	ok(t, root.workspaces().Delete(t.Context(), organization.Name, metav1.DeleteOptions{}))
	root.gone(organization.Name)
	for _, cluster := range clusters {
		_, err := s.as(t, s.master, cluster).clusters().Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
		refused(t, err, 404)
		_, err = s.as(t, s.admin, cluster).clusters().Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
		refused(t, err, 403)
	}
	got(t, s.as(t, s.admin, path).get("/api"), 404)
}

func defaultNamespace(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName)).kube().CoreV1().Namespaces()
	for _, name := range []string{"default", "kube-system"} {
		refused(t, inside.Delete(t.Context(), name, metav1.DeleteOptions{}), 403, "this namespace may not be deleted")
	}
}

func logicalClusterDirectly(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	ws := parent.workspace()
	inside := s.as(t, alice, path+":"+ws.Name)
	_, err := inside.clusters().Create(t.Context(), &corev1alpha1.LogicalCluster{
		ObjectMeta: metav1.ObjectMeta{Name: corev1alpha1.LogicalClusterName},
	}, metav1.CreateOptions{})
	refused(t, err, 403, "LogicalCluster cannot be created")
	refused(t, inside.clusters().Delete(t.Context(), corev1alpha1.LogicalClusterName, metav1.DeleteOptions{}), 403)
	_, err = inside.patchCluster(`{"spec":{"directlyDeletable":true}}`)
	ok(t, err)
	ok(t, inside.clusters().Delete(t.Context(), corev1alpha1.LogicalClusterName, metav1.DeleteOptions{}))
	eventually(t, "the logical cluster goes", func() error {
		_, err := s.as(t, s.master, ws.Spec.Cluster).clusters().Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
		return missing(err)
	})
}

func ownFinalizer(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for range 2 {
		lc, err := inside.patchCluster(string(setFinalizers()))
		ok(t, err)
		if !slices.Contains(lc.Finalizers, corev1alpha1.DeletionFinalizer) {
			t.Errorf("finalizers are %v", lc.Finalizers)
		}
	}
}
