package bundle

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// resources are what is asked for in each workspace, in the version to ask for first and
// the one that older servers have.
var resources = []struct {
	resource string
	versions []schema.GroupVersion
}{
	{"workspaces", []schema.GroupVersion{tenancyv1alpha1.GroupVersion}},
	{"workspacetypes", []schema.GroupVersion{tenancyv1alpha1.GroupVersion}},
	{"workspaceauthenticationconfigurations", []schema.GroupVersion{tenancyv1alpha1.GroupVersion}},
	{"logicalclusters", []schema.GroupVersion{corev1alpha1.GroupVersion}},
	{"shards", []schema.GroupVersion{corev1alpha1.GroupVersion}},
	{"apiexports", []schema.GroupVersion{apisv1alpha2.GroupVersion, apisv1alpha1.GroupVersion}},
	{"apibindings", []schema.GroupVersion{apisv1alpha2.GroupVersion, apisv1alpha1.GroupVersion}},
	{"apiresourceschemas", []schema.GroupVersion{apisv1alpha1.GroupVersion}},
	{"apiexportendpointslices", []schema.GroupVersion{apisv1alpha1.GroupVersion}},
	{"apiconversions", []schema.GroupVersion{apisv1alpha1.GroupVersion}},
	{"partitions", []schema.GroupVersion{topologyv1alpha1.GroupVersion}},
	{"partitionsets", []schema.GroupVersion{topologyv1alpha1.GroupVersion}},
}

// content is what was read in one workspace.
type content struct {
	objects  map[schema.GroupResource][]unstructured.Unstructured
	problems []string
}

// gatherer reads a part of the tree.
type gatherer struct {
	client *client.Client

	mu       sync.Mutex
	contents map[*walk.Node]content
}

// gather returns a bundle of what is at start and below. found is called with how many
// workspaces there are so far.
func (g *gatherer) gather(ctx context.Context, start logicalcluster.Path, server string, now time.Time, found func(int)) (*bundle.Bundle, error) {
	g.contents = map[*walk.Node]content{}
	count := 0
	tree, err := walk.Walk(ctx, g.client, start, walk.Options{
		Deleting: true,
		Found:    func(*walk.Node) { count++; found(count) },
		Look:     g.look,
	})
	if err != nil {
		return nil, err
	}
	b := bundle.New(start, server, now)
	for _, n := range tree.All() {
		c := g.contents[n]
		if n.Err != nil {
			c.problems = append(c.problems, "workspaces: "+run.Message(n.Err))
		}
		b.AddWorkspace(n.Path, c.problems...)
		for resource, objects := range c.objects {
			b.Add(n.Path, resource, objects)
		}
	}
	return b, nil
}

// look reads what is in one workspace.
func (g *gatherer) look(ctx context.Context, n *walk.Node) {
	c := content{objects: map[schema.GroupResource][]unstructured.Unstructured{}}
	for _, r := range resources {
		objects, err := g.list(ctx, n.Path, r.resource, r.versions)
		if err != nil {
			c.problems = append(c.problems, fmt.Sprintf("%s: %s", r.resource, run.Message(err)))
			continue
		}
		c.objects[r.versions[0].WithResource(r.resource).GroupResource()] = objects
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.contents[n] = c
}

// list returns the objects of a resource in the first version that is there. Workspaces
// differ in what they serve, so that one which is nowhere is none.
func (g *gatherer) list(ctx context.Context, p logicalcluster.Path, resource string, versions []schema.GroupVersion) ([]unstructured.Unstructured, error) {
	for _, version := range versions {
		objects, err := g.client.Objects(ctx, p, version.WithResource(resource))
		if !apierrors.IsNotFound(err) {
			return objects, err
		}
	}
	return nil, nil
}
