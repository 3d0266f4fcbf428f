//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	definitionName  = "widgets.bench.example.com"

	servedTimeout = 30 * time.Second
	servedPoll    = 2 * time.Millisecond
)

// definition is of the size that definitions of real providers have.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"widgets.bench.example.com"},
"spec":{"group":"bench.example.com","scope":"Namespaced",
"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList","shortNames":["wd"]},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"additionalPrinterColumns":[{"name":"Color","type":"string","jsonPath":".spec.color"}],
"schema":{"openAPIV3Schema":{"type":"object","description":"Widget is what the benchmarks make many of.","properties":{
"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
"spec":{"type":"object","description":"What the widget should be like.","required":["color"],"properties":{
"sent":{"type":"string","description":"When the client sent it."},
"color":{"type":"string","description":"Color of the widget.","minLength":1,"maxLength":64},
"size":{"type":"string","enum":["small","medium","large"],"default":"medium"},
"replicas":{"type":"integer","format":"int32","minimum":0,"maximum":100,"default":1},
"parts":{"type":"array","maxItems":16,"items":{"type":"object","properties":{"name":{"type":"string"},"weight":{"type":"integer"}}}},
"selector":{"type":"object","additionalProperties":{"type":"string"}}},
"x-kubernetes-validations":[{"rule":"self.replicas <= 100","message":"too many"}]},
"status":{"type":"object","properties":{"phase":{"type":"string"},
"conditions":{"type":"array","items":{"type":"object","required":["type","status"],"properties":{
"type":{"type":"string"},"status":{"type":"string"},"reason":{"type":"string"},"message":{"type":"string"},
"lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}}}]}}`

var widgets = kind{
	name:       "custom resource",
	collection: "/apis/bench.example.com/v1/namespaces/default/widgets",
	body: func(name, stamp string) string {
		return fmt.Sprintf(`{"apiVersion":"bench.example.com/v1","kind":"Widget","metadata":{"name":%q},"spec":{"sent":%q,"color":"blue","size":"large"}}`, name, stamp)
	},
	patch: func(i int) string { return fmt.Sprintf(`{"spec":{"color":"red-%d"}}`, i) },
}

// define makes the definition in a cluster and waits until its objects are served.
func define(ctx context.Context, c *client, cluster string) error {
	base := "/clusters/" + cluster
	if _, err := c.do(ctx, http.MethodPost, base+definitionsPath, jsonType, []byte(definition)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	poll := time.NewTicker(servedPoll)
	defer poll.Stop()
	for {
		crd, err := c.do(ctx, http.MethodGet, base+definitionsPath+"/"+definitionName, "", nil)
		if err != nil {
			return err
		}
		if bytes.Contains(crd, []byte(`"type":"Established"`)) {
			_, err := c.do(ctx, http.MethodGet, base+widgets.collection+"?limit=1", "", nil)
			return err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the definition in %s: %w", cluster, ctx.Err())
		}
	}
}

// measureCustomResources measures a kind that a workspace defines itself.
func (s *server) measureCustomResources(ctx context.Context, t *table) error {
	cluster, err := s.workspace(ctx, "objects")
	if err != nil {
		return err
	}
	if err := define(ctx, s.admin, cluster); err != nil {
		return err
	}
	return s.measureKind(ctx, t, widgets, cluster, targets{})
}

// measureDefinitions measures what the same definition takes in many workspaces.
func (s *server) measureDefinitions(ctx context.Context, t *table) error {
	clusters, err := s.workspaces(ctx, s.times(1000))
	if err != nil {
		return err
	}
	// The first one opens the store and compiles the schema.
	if err := define(ctx, s.admin, clusters[0]); err != nil {
		return err
	}
	before, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	rest := clusters[1:]
	r, err := s.load(ctx, s.clients, len(rest), func(ctx context.Context, c *client, i int) error { return define(ctx, c, rest[i]) })
	if err != nil {
		return err
	}
	after, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	s.profile(ctx, "definitions.heap", "/debug/pprof/heap?gc=1")
	n := float64(len(rest))
	t.add(row{fmt.Sprintf("resident memory for the same definition in %d workspaces, each", len(clusters)), "≤ 30 KB",
		kilobytes(float64(after.resident-before.resident) / n),
		fmt.Sprintf("settled; %s in all; live heap %s each; the definition is %s of JSON", megabytes(after.resident), kilobytes(float64(after.heap-before.heap)/n), kilobytes(float64(len(definition))))})
	t.add(row{"goroutines per definition", "0", fmt.Sprintf("%.3f", float64(after.goroutines-before.goroutines)/n), ""})
	t.add(row{fmt.Sprintf("definitions served per second, %d clients", s.clients), "", r.rate(), "from the create request to the first list of its objects; " + r.cost()})
	return nil
}

// workspaces makes n workspaces and returns their clusters.
func (s *server) workspaces(ctx context.Context, n int) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tracker, err := s.track(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.load(ctx, s.clients, n, tracker.create("w", 0)); err != nil {
		return nil, err
	}
	clusters := make([]string, n)
	for i := range clusters {
		clusters[i] = tracker.clusterOf(fmt.Sprintf("w-%d", i))
	}
	return clusters, nil
}
