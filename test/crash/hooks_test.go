package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	// hookedTrees are so many workspaces of a type with an initializer and a terminator,
	// each with as many in it.
	hookedTrees = 3
	hookedID    = "root:hooked"
	// hookRounds is how often the server is killed while they come, and while they go.
	hookRounds = 2
)

var workspaceTypes = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")

// TestKillBetweenHooks kills the server while workspaces wait for their initializers, and
// while trees of them wait for their terminators. Nothing is stuck afterwards, nothing skips
// a hook, and nothing remains.
func TestKillBetweenHooks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kcp")
	h := &hooks{T: t, root: root, process: start(t, root), initialized: map[string]bool{}, terminated: map[string]bool{}}
	h.createType()
	trees := []string{"root"}
	for range 2 {
		trees = h.bear(trees)
	}
	for _, path := range h.all {
		if !h.initialized[path] {
			t.Errorf("%s is ready, and its initializer has not been there", path)
		}
	}
	h.end()
	for _, path := range h.all {
		if !h.terminated[path] {
			t.Errorf("%s is gone, and its terminator has not been there", path)
		}
	}
	remaining, err := h.settled(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	h.stop(t)
	noOrphans(t, root, remaining)
}

// hooks is a controller of an initializer and a terminator at once, which lives longer than
// the server.
type hooks struct {
	*testing.T
	*process
	root string
	// all are the paths of the workspaces, parents first.
	all []string

	initialized, terminated map[string]bool
}

func (h *hooks) createType() {
	h.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"initializer": true, "terminator": true,
		"extend": map[string]any{"with": []any{map[string]any{"name": "universal", "path": "root"}}},
	}}}
	obj.SetAPIVersion(workspaceTypes.GroupVersion().String())
	obj.SetKind("WorkspaceType")
	obj.SetName("hooked")
	if _, err := h.in("root", workspaceTypes).Create(h.Context(), obj, metav1.CreateOptions{}); err != nil {
		h.Fatal(err)
	}
}

// bear makes workspaces in each of parents, and returns their paths when all are ready.
// The server is killed when some are.
func (h *hooks) bear(parents []string) (paths []string) {
	h.Helper()
	for _, parent := range parents {
		for i := range hookedTrees {
			paths = append(paths, fmt.Sprintf("%s:hooked-%d", parent, i))
		}
	}
	h.all = append(h.all, paths...)
	h.repeat(len(paths), func(ctx context.Context, path string) (bool, error) { return h.ready(ctx, path) }, paths)
	return paths
}

// end deletes the trees from the top, and returns when all are gone. The server is killed
// when some are.
func (h *hooks) end() {
	h.Helper()
	h.repeat(len(h.all), func(ctx context.Context, path string) (bool, error) { return h.gone(ctx, path) }, h.all)
}

// repeat takes a step for each of paths, over and over, until all are done. A number of
// times it kills the server after some steps, and goes on with another one.
func (h *hooks) repeat(most int, step func(context.Context, string) (bool, error), paths []string) {
	h.Helper()
	for round := range hookRounds + 1 {
		last := round == hookRounds
		// At the same numbers of steps each time.
		left := 1 + rand.New(rand.NewPCG(uint64(round), uint64(most))).IntN(2*most)
		err := eventually(h.Context(), "taking all steps", func() error {
			waiting := 0
			for _, path := range paths {
				if left--; left < 0 && !last {
					return nil
				}
				done, err := step(h.Context(), path)
				if err != nil {
					h.Fatalf("%s: %v", path, err)
				}
				if !done {
					waiting++
				}
			}
			if waiting > 0 {
				return fmt.Errorf("%d of %d are not done", waiting, len(paths))
			}
			return nil
		})
		if err != nil {
			h.Fatal(err)
		}
		if !last {
			h.kill()
			h.process = start(h.T, h.root)
		}
	}
}

// ready takes a workspace a step towards being ready.
func (h *hooks) ready(ctx context.Context, path string) (bool, error) {
	parent, name := parentOf(path)
	ws, err := h.in(parent, workspaces).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, h.create(ctx, parent, name)
	}
	if err != nil {
		return false, err
	}
	phase, _, _ := unstructured.NestedString(ws.Object, "status", "phase")
	if phase == "Ready" {
		return true, nil
	}
	if phase != "Initializing" {
		return false, nil
	}
	return false, h.finish(ctx, ws, "initializers", func() { h.initialized[path] = true })
}

func (h *hooks) create(ctx context.Context, parent, name string) error {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"type": map[string]any{"name": "hooked", "path": "root"}}}}
	obj.SetAPIVersion(workspaces.GroupVersion().String())
	obj.SetKind("Workspace")
	obj.SetName(name)
	_, err := h.in(parent, workspaces).Create(ctx, obj, metav1.CreateOptions{})
	return err
}

// gone takes a workspace a step towards being gone. Only those at the top are deleted by
// request.
func (h *hooks) gone(ctx context.Context, path string) (bool, error) {
	parent, name := parentOf(path)
	ws, err := h.in(parent, workspaces).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		// Gone, or gone with its parent.
		return true, nil
	case err != nil:
		return false, err
	case ws.GetDeletionTimestamp() == nil && parent == "root":
		return false, h.in(parent, workspaces).Delete(ctx, name, metav1.DeleteOptions{})
	case ws.GetDeletionTimestamp() == nil:
		return false, nil
	}
	return false, h.finish(ctx, ws, "terminators", func() { h.terminated[path] = true })
}

// finish removes the one entry of a list of a LogicalCluster that is being waited for.
func (h *hooks) finish(ctx context.Context, ws *unstructured.Unstructured, list string, seen func()) error {
	cluster, _, _ := unstructured.NestedString(ws.Object, "spec", "cluster")
	lc, err := h.in(cluster, logicalClusters).Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	pending, _, _ := unstructured.NestedStringSlice(lc.Object, "status", list)
	if len(pending) == 0 || list == "terminators" && lc.GetDeletionTimestamp() == nil {
		return nil
	}
	if len(pending) != 1 || pending[0] != hookedID {
		return fmt.Errorf("%s are %v", list, pending)
	}
	seen()
	patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"status":{%q:[]}}`, lc.GetResourceVersion(), list)
	_, err = h.in(cluster, logicalClusters).Patch(ctx, "cluster", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func parentOf(path string) (parent, name string) {
	at := strings.LastIndexByte(path, ':')
	return path[:at], path[at+1:]
}
