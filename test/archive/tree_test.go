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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/apply"
	"github.com/forkless/kcp/internal/inprocess"
	"github.com/forkless/kcp/internal/servertest"
)

const (
	orgs, teamsPerOrg = 10, 19
	// soon is far more than it takes, for the sake of busy machines; the figure is logged.
	soon = 30 * time.Second
	// atOnce is how many workspaces are made at a time.
	atOnce = 8
)

var (
	cowboys    = schema.GroupVersionResource{Group: "wildwest.dev", Version: "v1alpha1", Resource: "cowboys"}
	sheriffs   = schema.GroupVersionResource{Group: "own.dev", Version: "v1", Resource: "sheriffs"}
	workspaces = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}
)

const provider = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: today.cowboys.wildwest.dev}
spec:
  group: wildwest.dev
  scope: Namespaced
  names: {kind: Cowboy, listKind: CowboyList, plural: cowboys, singular: cowboy}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {type: object, properties: {spec: {type: object, properties: {intent: {type: string}}}}}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: cowboys}
spec:
  resources: [{group: wildwest.dev, name: cowboys, schema: today.cowboys.wildwest.dev, storage: {crd: {}}}]
---
apiVersion: tenancy.kcp.io/v1alpha1
kind: WorkspaceType
metadata: {name: team}
spec:
  extend: {with: [{name: universal, path: root}]}
  defaultAPIBindings: [{export: cowboys, path: "root:provider"}]
`

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sheriffs.own.dev}
spec:
  group: own.dev
  scope: Cluster
  names: {kind: Sheriff, listKind: SheriffList, plural: sheriffs, singular: sheriff}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: own.dev/v1
kind: Sheriff
metadata: {name: %[1]s}
`

const workspace = `
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata: {name: %[1]s}
spec: {type: {name: %[2]s, path: %[3]s}}
`

const cowboy = `
apiVersion: wildwest.dev/v1alpha1
kind: Cowboy
metadata: {name: %[1]s, namespace: default}
spec: {intent: %[1]s}
`

// server is a server in memory, begun with an archive if there is one.
type server struct {
	*inprocess.Server
	t *testing.T
}

func start(t *testing.T, archived string) server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	running, err := inprocess.StartFrom(ctx, archived, filepath.Join(t.TempDir(), ".kcp"), "--in-memory")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server{Server: running, t: t}
}

func (s server) in(path string) *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		s.t.Error(err)
		return &rest.Config{}
	}
	config.Host, config.QPS = s.URL()+"/clusters/"+path, -1
	return config
}

// put applies manifests in a workspace.
func (s server) put(ctx context.Context, path, manifests string) error {
	parsed, err := apply.Parse(path, []byte(manifests))
	if err != nil {
		return err
	}
	applier, err := apply.New(s.in(path))
	if err != nil {
		return err
	}
	return applier.Apply(ctx, parsed...)
}

// build makes the tree: providers, organizations with an API of their own, and teams that
// have bound one.
func (s server) build(ctx context.Context) error {
	if err := s.put(ctx, "root", fmt.Sprintf(workspace, "provider", "universal", "root")); err != nil {
		return err
	}
	if err := s.put(ctx, "root:provider", provider); err != nil {
		return err
	}
	building, ctx := errgroup.WithContext(ctx)
	building.SetLimit(atOnce)
	for org := range orgs {
		building.Go(func() error { return s.buildOrg(ctx, fmt.Sprintf("org%d", org)) })
	}
	return building.Wait()
}

func (s server) buildOrg(ctx context.Context, name string) error {
	if err := s.put(ctx, "root", fmt.Sprintf(workspace, name, "universal", "root")); err != nil {
		return err
	}
	path := "root:" + name
	if err := s.put(ctx, path, fmt.Sprintf(definition, name)); err != nil {
		return err
	}
	for team := range teamsPerOrg {
		team := fmt.Sprintf("team%d", team)
		if err := s.put(ctx, path, fmt.Sprintf(workspace, team, "team", "root:provider")); err != nil {
			return err
		}
		if err := s.put(ctx, path+":"+team, fmt.Sprintf(cowboy, name+team)); err != nil {
			return err
		}
	}
	return nil
}

// names returns what there is of a resource in a workspace. Versions are not among it: a
// workspace says at which address it is, and that is another one.
func (s server) names(path string, resource schema.GroupVersionResource) []string {
	s.t.Helper()
	client, err := dynamic.NewForConfig(s.in(path))
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := client.Resource(resource).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Errorf("%s in %s: %v", resource.Resource, path, err)
		return nil
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName()+"@"+string(item.GetUID()))
	}
	return names
}

// content returns everything that there is in the tree.
func (s server) content() map[string][]string {
	s.t.Helper()
	all := map[string][]string{"root": s.names("root", workspaces)}
	for org := range orgs {
		path := fmt.Sprintf("root:org%d", org)
		all[path] = append(s.names(path, workspaces), s.names(path, sheriffs)...)
		for team := range teamsPerOrg {
			path := fmt.Sprintf("%s:team%d", path, team)
			all[path] = s.names(path, cowboys)
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
