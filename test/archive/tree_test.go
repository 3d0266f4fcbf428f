// Package archive tests that a tree of workspaces is the same after it was saved to an
// archive and restored from it, and is soon there.
package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/apply"
	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/manifests"
)

const (
	orgs, teamsPerOrg = 10, 19
	// soon is far more than it takes, for the sake of busy machines; the figure is logged.
	soon = 30 * time.Second
	// atOnce is how many workspaces are made at a time.
	atOnce = 8
)

var (
	sheriffs   = schema.GroupVersionResource{Group: "wild.wild.west", Version: "v1", Resource: "sheriffs"}
	workspaces = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}
)

// tree is a server in memory with a tree of workspaces.
type tree struct {
	*servertest.Archivable
	t *testing.T
}

func start(t *testing.T, archived string) tree {
	t.Helper()
	return tree{Archivable: servertest.StartFrom(t, archived), t: t}
}

// put applies manifests in a workspace.
func (tr tree) put(ctx context.Context, path, text string) error {
	parsed, err := apply.Parse(path, []byte(text))
	if err != nil {
		return err
	}
	applier, err := apply.New(tr.In(path))
	if err != nil {
		return err
	}
	return applier.Apply(ctx, parsed...)
}

// build makes the tree: providers, organizations with an API of their own, and teams that
// have bound one.
func (tr tree) build(ctx context.Context) error {
	if err := tr.put(ctx, "root", manifests.Workspace("provider", "root", "universal")); err != nil {
		return err
	}
	if err := tr.put(ctx, "root:provider", manifests.Sheriffs()+manifests.Team("root:provider")); err != nil {
		return err
	}
	building, ctx := errgroup.WithContext(ctx)
	building.SetLimit(atOnce)
	for org := range orgs {
		building.Go(func() error { return tr.buildOrg(ctx, fmt.Sprintf("org%d", org)) })
	}
	return building.Wait()
}

func (tr tree) buildOrg(ctx context.Context, name string) error {
	if err := tr.put(ctx, "root", manifests.Workspace(name, "root", "universal")); err != nil {
		return err
	}
	path := "root:" + name
	if err := tr.put(ctx, path, manifests.Cowboys+manifests.Cowboy(name)); err != nil {
		return err
	}
	for team := range teamsPerOrg {
		team := fmt.Sprintf("team%d", team)
		if err := tr.put(ctx, path, manifests.Workspace(team, "root:provider", "team")); err != nil {
			return err
		}
		if err := tr.put(ctx, path+":"+team, manifests.Sheriff(name+team)); err != nil {
			return err
		}
	}
	return nil
}

// names returns what there is of a resource in a workspace. Versions are not among it: a
// workspace says at which address it is, and that is another one.
func (tr tree) names(path string, resource schema.GroupVersionResource) []string {
	tr.t.Helper()
	client, err := dynamic.NewForConfig(tr.In(path))
	if err != nil {
		tr.t.Fatal(err)
	}
	list, err := client.Resource(resource).List(tr.t.Context(), metav1.ListOptions{})
	if err != nil {
		tr.t.Errorf("%s in %s: %v", resource.Resource, path, err)
		return nil
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName()+"@"+string(item.GetUID()))
	}
	return names
}

// content returns everything that there is in the tree.
func (tr tree) content() map[string][]string {
	tr.t.Helper()
	all := map[string][]string{"root": tr.names("root", workspaces)}
	for org := range orgs {
		path := fmt.Sprintf("root:org%d", org)
		all[path] = append(tr.names(path, workspaces), tr.names(path, servertest.Cowboys)...)
		for team := range teamsPerOrg {
			path := fmt.Sprintf("%s:team%d", path, team)
			all[path] = tr.names(path, sheriffs)
		}
	}
	return all
}

// TestTree: 200 workspaces, with types, bindings and objects of both kinds of APIs.
func TestTree(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	first := start(t, "")
	if err := first.build(ctx); err != nil {
		t.Fatal(err)
	}
	want := first.content()
	file := filepath.Join(t.TempDir(), "tree.kcp")
	began := time.Now()
	if err := first.StopAndSave(file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped and saved in %s, %d KiB", time.Since(began), info.Size()>>10)

	began = time.Now()
	again := start(t, file)
	took := time.Since(began)
	t.Logf("ready from the archive in %s", took)
	if took > soon {
		t.Errorf("a server was ready from an archive after %s only", took)
	}
	got := again.content()
	for path, names := range want {
		if fmt.Sprint(names) != fmt.Sprint(got[path]) {
			t.Errorf("%s had %v and has %v", path, names, got[path])
		}
		if len(names) == 0 {
			t.Errorf("%s had nothing to save", path)
		}
	}
	// What has been restored goes on to be used.
	if err := again.buildOrg(ctx, "later"); err != nil {
		t.Error(err)
	}
	servertest.Eventually(t, "the tree has what came later", func() (bool, any) {
		names := again.names("root:later", workspaces)
		return len(names) == teamsPerOrg, names
	})
}
