package deletion

import (
	"maps"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	typesResource = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")

	universal = tenancyv1alpha1.WorkspaceTypeExtension{With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "universal", Path: "root"}}}
)

// suite is a server, seen by an administrator.
type suite struct {
	*testing.T
	server *servertest.Server
}

func newSuite(t *testing.T) *suite { return &suite{t, servertest.Start(t)} }

func (s *suite) dynamic(workspace string) dynamic.Interface {
	s.Helper()
	client, err := dynamic.NewForConfig(s.server.In(s, "base", workspace))
	if err != nil {
		s.Fatal(err)
	}
	return client
}

func (s *suite) kube(ws *tenancyv1alpha1.Workspace) kubernetes.Interface {
	s.Helper()
	client, err := kubernetes.NewForConfig(s.server.In(s, "base", ws.Spec.Cluster))
	if err != nil {
		s.Fatal(err)
	}
	return client
}

func (s *suite) newType(in string, kind tenancyv1alpha1.WorkspaceType) {
	s.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&kind)
	if err != nil {
		s.Fatal(err)
	}
	delete(content, "status")
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("WorkspaceType"))
	if _, err := s.dynamic(in).Resource(typesResource).Create(s.Context(), obj, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// terminatorType makes a type with a terminator that is otherwise universal.
func (s *suite) terminatorType(in, name string) {
	s.Helper()
	s.newType(in, tenancyv1alpha1.WorkspaceType{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: tenancyv1alpha1.WorkspaceTypeSpec{Terminator: true, Extend: universal},
	})
}

// create makes a workspace of a type, which is in root unless somewhere else is said.
func (s *suite) create(parent, name, kind string, in ...string) string {
	s.Helper()
	ws := newWorkspace()
	ws.SetGenerateName("")
	ws.SetName(name)
	path := append(slices.Clone(in), "root")[0]
	if err := unstructured.SetNestedStringMap(ws.Object, map[string]string{"name": kind, "path": path}, "spec", "type"); err != nil {
		s.Fatal(err)
	}
	// A type that is new may be unknown for a moment.
	servertest.Eventually(s, "workspace "+name+" is created", func() (bool, any) {
		_, err := s.dynamic(parent).Resource(workspaces).Create(s.Context(), ws, metav1.CreateOptions{})
		if err != nil && !apierrors.IsForbidden(err) {
			s.Fatal(err)
		}
		return err == nil, err
	})
	return name
}

// until returns a workspace when it is as wanted.
func (s *suite) until(parent, name, what string, wanted func(*tenancyv1alpha1.Workspace) bool) *tenancyv1alpha1.Workspace {
	s.Helper()
	client := s.dynamic(parent).Resource(workspaces)
	var ws *tenancyv1alpha1.Workspace
	servertest.Eventually(s, parent+":"+name+": "+what, func() (bool, any) {
		obj, err := client.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ws = &tenancyv1alpha1.Workspace{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, ws); err != nil {
			s.Fatal(err)
		}
		return wanted(ws), ws.Status
	})
	return ws
}

func (s *suite) ready(parent, name string) *tenancyv1alpha1.Workspace {
	s.Helper()
	return s.until(parent, name, "ready", func(ws *tenancyv1alpha1.Workspace) bool { return ws.Status.Phase == corev1alpha1.PhaseReady })
}

func (s *suite) gone(parent, name string) {
	s.Helper()
	client := s.dynamic(parent).Resource(workspaces)
	servertest.Eventually(s, parent+":"+name+" is gone", func() (bool, any) {
		obj, err := client.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return apierrors.IsNotFound(err), err
		}
		return false, obj.Object["status"]
	})
}

func (s *suite) delete(parent, name string) {
	s.Helper()
	if err := s.dynamic(parent).Resource(workspaces).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

// cluster returns the LogicalCluster of a workspace.
func (s *suite) cluster(ws *tenancyv1alpha1.Workspace) *corev1alpha1.LogicalCluster {
	s.Helper()
	obj, err := s.clusters(ws).Get(s.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	lc := &corev1alpha1.LogicalCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, lc); err != nil {
		s.Fatal(err)
	}
	return lc
}

func (s *suite) clusters(ws *tenancyv1alpha1.Workspace) dynamic.ResourceInterface {
	s.Helper()
	return s.dynamic(ws.Spec.Cluster).Resource(corev1alpha1.GroupVersion.WithResource("logicalclusters"))
}

// patchStatus changes the status of the LogicalCluster of a workspace, as an administrator
// does whose controller is gone.
func (s *suite) patchStatus(ws *tenancyv1alpha1.Workspace, patch string) {
	s.Helper()
	if err := s.tryPatchStatus(ws, patch); err != nil {
		s.Fatal(err)
	}
}

func (s *suite) tryPatchStatus(ws *tenancyv1alpha1.Workspace, patch string) error {
	s.Helper()
	_, err := s.clusters(ws).Patch(s.Context(), corev1alpha1.LogicalClusterName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

func (s *suite) patch(client dynamic.ResourceInterface, name, patch string) {
	s.Helper()
	if _, err := client.Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

func labelKeys(lc *corev1alpha1.LogicalCluster) []string { return slices.Collect(maps.Keys(lc.Labels)) }
