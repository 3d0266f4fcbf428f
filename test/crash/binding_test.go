package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const (
	// consumers bind offered exports each: 500 bindings, and one more each of a rival.
	consumers = 50
	offered   = 10
	// binders bind at a time, until killedAfter bindings are acknowledged.
	binders     = 16
	killedAfter = 250
)

var (
	apiSchemas  = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	apiExports  = apisv1alpha2.GroupVersion.WithResource("apiexports")
	apiBindings = apisv1alpha2.GroupVersion.WithResource("apibindings")
)

// TestKillBinding kills the server while hundreds of bindings are being bound. After the
// restart each of them is bound or says what it waits for, and status, locks and what is
// served agree.
func TestKillBinding(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kcp")
	p := start(t, root)
	c := &client{process: p, ledger: newLedger(), name: "bindings"}
	for _, name := range []string{"provider", "rival"} {
		if err := c.workspace(t.Context(), "root", name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range offered {
		c.exports(t, "root:provider", i)
	}
	c.exports(t, "root:rival", 0)
	var making errgroup.Group
	making.SetLimit(clients)
	for i := range consumers {
		making.Go(func() error { return c.workspace(t.Context(), "root", consumerName(i)) })
	}
	if err := making.Wait(); err != nil {
		t.Fatal(err)
	}
	acknowledged := p.bindUntilKilled(t)

	p = start(t, root)
	bound := 0
	for i := range consumers {
		if err := eventually(t.Context(), "waiting until all agree", func() error {
			n, err := p.agrees(t, consumerName(i))
			if err == nil {
				bound += n
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("killed with %d bindings acknowledged; %d are bound when the server is ready again", acknowledged, bound)
	if bound+consumers < acknowledged {
		t.Errorf("%d of %d acknowledged bindings are bound, and at most %d can be in conflict", bound, acknowledged, consumers)
	}
	// The rest, and those of the rival.
	var binding errgroup.Group
	binding.SetLimit(binders)
	for _, b := range allBindings() {
		binding.Go(func() error { return ignoreExisting(p.bind(t.Context(), b)) })
	}
	if err := binding.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := eventually(t.Context(), "waiting until all is decided", func() error {
		for i := range consumers {
			n, err := p.agrees(t, consumerName(i))
			if err != nil {
				return err
			}
			if n != offered {
				return fmt.Errorf("%d bindings of %s are bound", n, consumerName(i))
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	p.stop(t)
}

func consumerName(i int) string { return fmt.Sprintf("consumer-%d", i) }

func thing(i int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "things.example.com", Version: "v1", Resource: fmt.Sprintf("thing%ds", i)}
}

// wantedBinding says who is to bind what.
type wantedBinding struct {
	consumer, name, path string
	export               int
}

func allBindings() []wantedBinding {
	var all []wantedBinding
	for export := range offered {
		for i := range consumers {
			if export == 0 {
				all = append(all, wantedBinding{consumerName(i), "rival", "root:rival", 0})
			}
			all = append(all, wantedBinding{consumerName(i), fmt.Sprintf("binding-%d", export), "root:provider", export})
		}
	}
	return all
}

// exports makes an export of one resource.
func (c *client) exports(t *testing.T, path string, i int) {
	t.Helper()
	resource := thing(i)
	name := "today." + resource.GroupResource().String()
	kind := fmt.Sprintf("Thing%d", i)
	o := object{workspace: path, resource: apiExports, name: fmt.Sprintf("export-%d", i)}
	for _, made := range []struct {
		object
		spec map[string]any
	}{
		{object{workspace: path, resource: apiSchemas, name: name}, map[string]any{
			"group": resource.Group, "scope": "Cluster",
			"names":    map[string]any{"plural": resource.Resource, "singular": fmt.Sprintf("thing%d", i), "kind": kind, "listKind": kind + "List"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"type": "object"}}},
		}},
		{o, map[string]any{
			"resources": []any{map[string]any{"group": resource.Group, "name": resource.Resource, "schema": name}},
		}},
	} {
		if err := c.create(t.Context(), made.object, map[string]any{"spec": made.spec}); err != nil {
			t.Fatal(err)
		}
	}
	if err := eventually(t.Context(), "waiting for the identity of "+o.name, func() error {
		export, err := c.of(o).Get(t.Context(), o.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if hash, _, _ := unstructured.NestedString(export.Object, "status", "identityHash"); hash == "" {
			return errors.New("there is none")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (p *process) bind(ctx context.Context, b wantedBinding) error {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"reference": map[string]any{"export": map[string]any{"path": b.path, "name": fmt.Sprintf("export-%d", b.export)}},
	}}}
	u.SetAPIVersion(apiBindings.GroupVersion().String())
	u.SetKind("APIBinding")
	u.SetName(b.name)
	_, err := p.in("root:"+b.consumer, apiBindings).Create(ctx, u, metav1.CreateOptions{})
	return err
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// bindUntilKilled has clients bind and kills the server in the middle. It returns how many
// bindings were acknowledged.
func (p *process) bindUntilKilled(t *testing.T) int {
	t.Helper()
	var acknowledged atomic.Int32
	var killed atomic.Bool
	enough := make(chan struct{})
	var group errgroup.Group
	group.SetLimit(binders + 1)
	group.Go(func() error {
		<-enough
		killed.Store(true)
		p.kill()
		return nil
	})
	for _, b := range allBindings() {
		group.Go(func() error {
			if killed.Load() {
				return nil
			}
			if err := p.bind(t.Context(), b); err != nil {
				if killed.Load() {
					return nil
				}
				return err
			}
			if acknowledged.Add(1) == killedAfter {
				close(enough)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("before the kill: %v", err)
	}
	return int(acknowledged.Load())
}

// agrees checks that the bindings of a consumer are bound or say what they wait for, that
// the LogicalCluster says the same, and that what is bound is served. It returns how many
// are bound. While bindings are being made, what is read first may be older than what is
// read next.
func (p *process) agrees(t *testing.T, consumer string) (bound int, err error) {
	t.Helper()
	path := "root:" + consumer
	list, err := p.in(path, apiBindings).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	status := map[string]string{}
	for i := range list.Items {
		b := &apisv1alpha2.APIBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, b); err != nil {
			return 0, err
		}
		if !isOurs(b.Name) {
			continue
		}
		for _, resource := range b.Status.BoundResources {
			status[resource.Resource+"."+resource.Group] = b.Name
			gvr := schema.GroupVersionResource{Group: resource.Group, Version: "v1", Resource: resource.Resource}
			if _, err := p.in(path, gvr).List(t.Context(), metav1.ListOptions{}); err != nil {
				return 0, fmt.Errorf("%s of %s is bound and not served: %w", resource.Resource, consumer, err)
			}
		}
		switch {
		case b.Status.Phase == apisv1alpha2.APIBindingPhaseBound && len(b.Status.BoundResources) == 1:
			bound++
		case b.Status.Phase == apisv1alpha2.APIBindingPhaseBinding && len(b.Status.BoundResources) == 0 &&
			conditions.Reason(b, apisv1alpha1.InitialBindingCompleted) == apisv1alpha1.ReasonNamingConflicts:
		default:
			return 0, fmt.Errorf("binding %s of %s is neither bound nor in conflict: %+v", b.Name, consumer, b.Status)
		}
	}
	if locks := p.locks(t, path); !maps.Equal(locks, status) {
		return 0, fmt.Errorf("%s: the bindings say %v, the LogicalCluster %v", consumer, status, locks)
	}
	return bound, nil
}

// isOurs says whether a binding is one that the test makes, and not one that every
// workspace has.
func isOurs(name string) bool { return name == "rival" || strings.HasPrefix(name, "binding-") }

// locks returns which binding has which resource of a workspace.
func (p *process) locks(t *testing.T, path string) map[string]string {
	t.Helper()
	lc, err := p.in(path, logicalClusters).Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var written map[string]struct {
		Name string `json:"n"`
	}
	if raw := lc.GetAnnotations()[apisv1alpha1.ResourceBindingsAnnotationKey]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &written); err != nil {
			t.Fatalf("%s: %v in %s", path, err, raw)
		}
	}
	locks := map[string]string{}
	for resource, holder := range written {
		if isOurs(holder.Name) {
			locks[resource] = holder.Name
		}
	}
	return locks
}
