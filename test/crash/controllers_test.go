package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// typesPath has the types, and the workspaces of the type that extends the others.
	typesPath = "root:types"
	// carriers is how many requests of each sort run at a time.
	carriers = 4
	// underway is how many workspaces come, or go, at a time.
	underway = 24
	// pause is between two looks at all that wait.
	pause = 50 * time.Millisecond
	// carried is how long all of it may take.
	carried = 10 * time.Minute
)

// hookTypes each have an initializer and a terminator; the last extends the others.
var hookTypes = []string{"first", "second", "child"}

// hookLists are the kinds of hooks: their virtual workspaces, and where entries are.
var hookLists = map[string]string{"initializingworkspaces": "initializers", "terminatingworkspaces": "terminators"}

// TestControllersCarryWorkspaces: three controllers, each with no more than what its own
// hooks need, carry workspaces from creation to deletion, while the server is killed in
// the middle of both. None is stuck, none skips a hook, and what is inside is in reach of a
// controller while it is its turn only.
func TestControllersCarryWorkspaces(t *testing.T) {
	count := 60
	if os.Getenv("KCP_TEST_LONG") != "" {
		count = 500
	}
	root := filepath.Join(t.TempDir(), "kcp")
	c := newCarriage(t, start(t, root))
	ctx, cancel := context.WithTimeout(t.Context(), carried)
	var controllers errgroup.Group
	t.Cleanup(func() {
		cancel()
		_ = controllers.Wait()
	})
	for _, typeName := range hookTypes {
		for kind := range hookLists {
			controllers.Go(func() error { c.control(ctx, kind, typeName); return nil })
		}
	}

	clusters := make([]string, count)
	c.killedDuring(ctx, root, "initializingworkspaces", count, func(i int) (err error) {
		clusters[i], err = c.bear(ctx, carriedName(i))
		return err
	})
	c.allRan(t, "initializingworkspaces", clusters)
	// What is ready is nobody's turn, neither any more nor yet.
	c.allClosed(ctx, t, clusters, "initializingworkspaces", "terminatingworkspaces")

	c.killedDuring(ctx, root, "terminatingworkspaces", count, func(i int) error { return c.end(ctx, carriedName(i)) })
	c.allRan(t, "terminatingworkspaces", clusters)
	c.allClosed(ctx, t, clusters, "terminatingworkspaces")
}

func carriedName(i int) string { return fmt.Sprintf("carried-%d", i) }

// carriage are the controllers, which live longer than the server.
type carriage struct {
	*testing.T
	server atomic.Pointer[connection]
	// home is the logical cluster of the types, tokens those of the controllers, by type.
	home   string
	tokens map[string]string

	mu  sync.Mutex
	ran map[turn]int
}

// turn is that of a hook, in a workspace.
type turn struct{ kind, typeName, cluster string }

// connection is a server and the connections of the controllers to it, by type.
type connection struct {
	*process
	clients map[string]*http.Client
	configs map[string]*rest.Config
}

// newCarriage makes the types, and an account for the controller of each.
func newCarriage(t *testing.T, p *process) *carriage {
	t.Helper()
	fatal(t, (&client{process: p, ledger: newLedger(), name: "carriage"}).workspace(t.Context(), "root", "types"))
	c := &carriage{T: t, tokens: map[string]string{}, ran: map[turn]int{}}
	extended := []any{map[string]any{"name": "universal", "path": "root"}}
	for _, typeName := range hookTypes {
		spec := map[string]any{
			"initializer": true, "terminator": true,
			"initializerPermissions": []any{rule("", "namespaces", "create", "list")},
			"terminatorPermissions":  []any{rule("", "namespaces", "list")},
		}
		if typeName == hookTypes[len(hookTypes)-1] {
			spec["extend"] = map[string]any{"with": extended}
		}
		extended = append(extended, map[string]any{"name": typeName})
		made := c.make(p, workspaceTypes, "WorkspaceType", typeName, map[string]any{"spec": spec})
		c.home = made.GetAnnotations()["kcp.io/cluster"]
		c.tokens[typeName] = c.account(p, typeName)
	}
	fatal(t, c.connect(p))
	return c
}

func rule(group, resource string, verbs ...any) map[string]any {
	return map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs}
}

// account makes an account that may act for the hooks of a type, and returns its token.
func (c *carriage) account(p *process, typeName string) string {
	c.Helper()
	config := rest.CopyConfig(p.config)
	config.Host = p.url + "/clusters/" + typesPath
	kube, err := kubernetes.NewForConfigAndClient(config, p.client)
	fatal(c.T, err)
	accounts := kube.CoreV1().ServiceAccounts("default")
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": typeName}}}
	_, err = p.in(typesPath, schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace("default").
		Create(c.Context(), account, metav1.CreateOptions{})
	fatal(c.T, err)
	acting := rule("tenancy.kcp.io", "workspacetypes", "initialize", "terminate")
	acting["resourceNames"] = []any{typeName}
	policy := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	c.make(p, policy.WithResource("clusterroles"), "ClusterRole", typeName, map[string]any{"rules": []any{acting}})
	c.make(p, policy.WithResource("clusterrolebindings"), "ClusterRoleBinding", typeName, map[string]any{
		"roleRef":  map[string]any{"apiGroup": policy.Group, "kind": "ClusterRole", "name": typeName},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "default", "name": typeName}},
	})
	issued, err := accounts.CreateToken(c.Context(), typeName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	fatal(c.T, err)
	return issued.Status.Token
}

// make makes an object beside the types.
func (c *carriage) make(p *process, resource schema.GroupVersionResource, kind, name string, content map[string]any) *unstructured.Unstructured {
	c.Helper()
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	obj.SetName(name)
	made, err := p.in(typesPath, resource).Create(c.Context(), obj, metav1.CreateOptions{})
	fatal(c.T, err)
	return made
}

// connect leads the controllers to a server.
func (c *carriage) connect(p *process) error {
	to := &connection{process: p, clients: map[string]*http.Client{}, configs: map[string]*rest.Config{}}
	for typeName, token := range c.tokens {
		config := rest.AnonymousClientConfig(p.config)
		config.BearerToken, config.QPS = token, -1
		connections, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		to.configs[typeName], to.clients[typeName] = config, connections
	}
	c.server.Store(to)
	return nil
}

// through returns a client of a controller in the virtual workspace of its type.
func (c *carriage) through(t turn, resource schema.GroupVersionResource) dynamic.ResourceInterface {
	to := c.server.Load()
	config := rest.CopyConfig(to.configs[t.typeName])
	config.Host = to.url + "/services/" + t.kind + "/" + c.home + ":" + t.typeName + "/clusters/" + t.cluster
	made, err := dynamic.NewForConfigAndClient(config, to.clients[t.typeName])
	if err != nil {
		// The address was good enough for all clients before.
		panic(err)
	}
	return made.Resource(resource)
}

// control is a controller of one kind of hook of a type. What fails is tried again, since the
// server is killed; what never succeeds shows in workspaces that are stuck.
func (c *carriage) control(ctx context.Context, kind, typeName string) {
	for ctx.Err() == nil {
		all, err := c.through(turn{kind, typeName, "*"}, logicalClusters).List(ctx, metav1.ListOptions{})
		if err == nil {
			var working errgroup.Group
			working.SetLimit(carriers)
			for i := range all.Items {
				working.Go(func() error {
					return c.take(ctx, turn{kind, typeName, all.Items[i].GetAnnotations()["kcp.io/cluster"]}, &all.Items[i])
				})
			}
			_ = working.Wait()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// take does the work of a hook in a workspace, and removes its entry.
func (c *carriage) take(ctx context.Context, t turn, lc *unstructured.Unstructured) error {
	inside := c.through(t, namespaces)
	if t.kind == "initializingworkspaces" {
		made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		made.SetName("by-" + t.typeName)
		if _, err := inside.Create(ctx, made, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	} else if _, err := inside.List(ctx, metav1.ListOptions{}); err != nil {
		return err
	}
	c.mu.Lock()
	c.ran[t]++
	c.mu.Unlock()
	entries, _, err := unstructured.NestedStringSlice(lc.Object, "status", hookLists[t.kind])
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(entries, func(entry string) bool { return entry == c.home+":"+t.typeName })
	lines := ""
	for i, entry := range others {
		if i > 0 {
			lines += ","
		}
		lines += fmt.Sprintf("%q", entry)
	}
	patch := fmt.Appendf(nil, `{"status":{%q:[%s]}}`, hookLists[t.kind], lines)
	if _, err := c.through(t, logicalClusters).Patch(ctx, "cluster", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	return c.closed(ctx, t)
}

// closed checks that a workspace is out of reach by way of a hook. While there is no server
// nothing is said.
func (c *carriage) closed(ctx context.Context, t turn) error {
	_, err := c.through(t, namespaces).List(ctx, metav1.ListOptions{})
	var status apierrors.APIStatus
	switch {
	case err == nil:
		c.Errorf("the workspace is in reach when it is not the turn of %v", t)
	case !errors.As(err, &status):
		return err
	case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
		return err
	}
	return nil
}

// allRan checks that hooks of a kind have been there, in each workspace.
func (c *carriage) allRan(t *testing.T, kind string, clusters []string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cluster := range clusters {
		for _, typeName := range hookTypes {
			if c.ran[turn{kind, typeName, cluster}] == 0 {
				t.Errorf("%s has skipped %s of %s", cluster, kind, typeName)
			}
		}
	}
}

// allClosed checks that no workspace is in reach by way of any hook of some kinds.
func (c *carriage) allClosed(ctx context.Context, t *testing.T, clusters []string, kinds ...string) {
	t.Helper()
	var checking errgroup.Group
	checking.SetLimit(2 * carriers)
	for _, cluster := range clusters {
		for _, typeName := range hookTypes {
			for _, kind := range kinds {
				checking.Go(func() error { return c.closed(ctx, turn{kind, typeName, cluster}) })
			}
		}
	}
	fatal(t, checking.Wait())
}

// killedDuring does something for each of a number of workspaces. The server is killed when
// hooks of a kind were there so many times: twice as many turns are left then, and more.
func (c *carriage) killedDuring(ctx context.Context, root, kind string, count int, do func(i int) error) {
	c.Helper()
	done := make(chan error, 1)
	go func() {
		var group errgroup.Group
		group.SetLimit(underway)
		for i := range count {
			group.Go(func() error { return do(i) })
		}
		done <- group.Wait()
	}()
	for c.turns(kind) < count {
		select {
		case err := <-done:
			c.Fatalf("%s were there %d times, and all is done: %v", kind, c.turns(kind), err)
		case <-time.After(poll):
		}
	}
	c.server.Load().kill()
	fatal(c.T, c.connect(start(c.T, root)))
	fatal(c.T, <-done)
}

// turns returns how often hooks of a kind were there.
func (c *carriage) turns(kind string) (seen int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t, times := range c.ran {
		if t.kind == kind {
			seen += times
		}
	}
	return seen
}

// bear makes a workspace and returns its logical cluster when it is ready.
func (c *carriage) bear(ctx context.Context, name string) (cluster string, err error) {
	err = c.repeat(ctx, func() error {
		ws, err := c.server.Load().in(typesPath, workspaces).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"type": map[string]any{"name": hookTypes[len(hookTypes)-1]}}}}
			made.SetGroupVersionKind(workspaces.GroupVersion().WithKind("Workspace"))
			made.SetName(name)
			ws, err = c.server.Load().in(typesPath, workspaces).Create(ctx, made, metav1.CreateOptions{})
		}
		if err != nil {
			return err
		}
		if phase, _, _ := unstructured.NestedString(ws.Object, "status", "phase"); phase != "Ready" {
			return fmt.Errorf("%s is %v", name, ws.Object["status"])
		}
		cluster, _, _ = unstructured.NestedString(ws.Object, "spec", "cluster")
		return nil
	})
	return cluster, err
}

// end deletes a workspace and returns when it is gone.
func (c *carriage) end(ctx context.Context, name string) error {
	return c.repeat(ctx, func() error {
		ws, err := c.server.Load().in(typesPath, workspaces).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil && ws.GetDeletionTimestamp() == nil {
			err = c.server.Load().in(typesPath, workspaces).Delete(ctx, name, metav1.DeleteOptions{})
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is %v", name, ws.Object["status"])
	})
}

// repeat calls step until it succeeds, through the absence of a server.
func (c *carriage) repeat(ctx context.Context, step func() error) error {
	for {
		err := step()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stuck: %w", err)
		case <-time.After(pause):
		}
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
