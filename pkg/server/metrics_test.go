package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// scrape returns what /metrics says.
func scrape(t testing.TB, s *servertest.Server) map[string]*dto.MetricFamily {
	t.Helper()
	code, body := get(t, s.Config(t, "shard-base"), "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", code, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("/metrics cannot be read: %v", err)
	}
	return families
}

// get asks for a path below the address of config.
func get(t testing.TB, config *rest.Config, path string) (code int, body []byte) {
	t.Helper()
	return send(t, config, http.MethodGet, path, http.NoBody)
}

func send(t testing.TB, config *rest.Config, method, path string, content io.Reader) (code int, body []byte) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(config.Host, "/")+path, content)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// series returns the series of all metrics, as "name{label=value,…}".
func series(families map[string]*dto.MetricFamily) map[string]bool {
	all := map[string]bool{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			all[name+"{"+strings.Join(labels, ",")+"}"] = true
		}
	}
	return all
}

func count(t testing.TB, families map[string]*dto.MetricFamily, name, phase string) int {
	t.Helper()
	for _, metric := range families[name].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if labels["phase"] == phase {
			if labels["shard"] != "root" {
				t.Errorf("%s is of shard %q", name, labels["shard"])
			}
			return int(metric.GetGauge().GetValue())
		}
	}
	return 0
}

func TestMetricsCountWorkspaces(t *testing.T) {
	s := servertest.Start(t)
	for i := range 3 {
		s.Workspace(t, "root", fmt.Sprintf("counted-%d", i))
	}
	ready := string(corev1alpha1.PhaseReady)
	servertest.Eventually(t, "three workspaces are counted", func() (bool, any) {
		families := scrape(t, s)
		workspaces, clusters := count(t, families, "kcp_workspace_count", ready), count(t, families, "kcp_logicalcluster_count", ready)
		// Root and the shard itself have no Workspace.
		return workspaces == 3 && clusters == 5, []int{workspaces, clusters}
	})
	families := scrape(t, s)
	for _, name := range []string{"kcp_workspace_count", "kcp_logicalcluster_count"} {
		if got := len(families[name].GetMetric()); got != len(corev1alpha1.Phases()) {
			t.Errorf("%s has %d series, not one for each phase, whatever there is", name, got)
		}
	}
}

func TestMetricsAreThoseOfAnAPIServer(t *testing.T) {
	s := servertest.Start(t)
	families := scrape(t, s)
	for _, name := range []string{
		"apiserver_request_total", "apiserver_request_duration_seconds", "apiserver_current_inflight_requests",
		"apiserver_cache_list_total", "etcd_request_duration_seconds", "process_resident_memory_bytes", "go_goroutines",
	} {
		if families[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	if got := len(series(families)); got > 3000 {
		t.Errorf("an idle server has %d series", got)
	}
	for name, family := range families {
		if strings.HasPrefix(name, "kcp_") && family.GetHelp() == "" {
			t.Errorf("%s does not say what it is", name)
		}
	}
}

func TestMetricsAreForThoseWhoMay(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	bare := func(token string) *rest.Config {
		config := s.As(t, token, "")
		config.Host = s.URL()
		return config
	}
	if code, _ := get(t, bare("user-1-token"), "/metrics"); code != http.StatusForbidden {
		t.Errorf("a user whom nobody has allowed gets %d", code)
	}
	if code, _ := get(t, bare("admin-token"), "/metrics"); code != http.StatusOK {
		t.Errorf("a privileged user gets %d", code)
	}
	client, err := dynamic.NewForConfig(s.In(t, "base", "root"))
	if err != nil {
		t.Fatal(err)
	}
	bindings := client.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"})
	binding := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "metrics"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:kcp:metrics-reader"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "user-1"}},
	}}
	binding.SetAPIVersion("rbac.authorization.k8s.io/v1")
	binding.SetKind("ClusterRoleBinding")
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the binding in root counts", func() (bool, any) {
		code, _ := get(t, bare("user-1-token"), "/metrics")
		return code == http.StatusOK, code
	})
	for _, token := range []string{"user-1-token", "admin-token"} {
		if code, _ := get(t, bare(token), "/clusters/root/metrics"); code != http.StatusNotImplemented {
			t.Errorf("/metrics of a workspace answers %s with %d", token, code)
		}
	}
}

// TestSeriesDoNotGrow tells the story of tenants who define things, each by another
// name: the series of one must not be left when it has gone, let alone those of all.
func TestSeriesDoNotGrow(t *testing.T) {
	s := servertest.Start(t)
	// What every tenant does makes series, once.
	churn(t, s, "warm", 20)
	before := settled(t, s, "warm")

	workspaces := 200
	if testing.Short() {
		workspaces = 40
	}
	churn(t, s, "tenant", workspaces)
	after := settled(t, s, "tenant")
	// What the server itself does makes a few for the first time now and then.
	const few = 30
	if grown := len(after) - len(before); grown > few {
		t.Errorf("%d series were %d before:\n%s", len(after), len(before),
			cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))))
	}
}

// settled returns the series when those about tenants whose names begin with prefix have
// gone, which they do with the stores of what these defined.
func settled(t *testing.T, s *servertest.Server, prefix string) map[string]bool {
	t.Helper()
	var all map[string]bool
	servertest.Eventually(t, "there are no series about tenants", func() (bool, any) {
		all = series(scrape(t, s))
		var theirs []string
		for name := range all {
			if strings.Contains(name, prefix) {
				theirs = append(theirs, name)
			}
		}
		return len(theirs) == 0, theirs
	})
	return all
}

// churn makes workspaces, defines a resource in each by a name of its own, uses it, and
// deletes everything.
func churn(t *testing.T, s *servertest.Server, prefix string, workspaces int) {
	t.Helper()
	ctx, root := t.Context(), s.In(t, "base", "root")
	root.QPS = -1
	configs := make(chan string)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for name := range configs {
				config := s.In(t, "base", "root:"+name)
				config.QPS = -1
				if err := tenant(ctx, root, config, name); err != nil {
					t.Errorf("tenant %s: %v", name, err)
				}
			}
		})
	}
	for i := range workspaces {
		configs <- fmt.Sprintf("%s%d", prefix, i)
	}
	close(configs)
	wait.Wait()
	client, err := dynamic.NewForConfig(root)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "all workspaces are gone", func() (bool, any) {
		list, err := client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		return len(list.Items) == 0, len(list.Items)
	})
}

// tenant is the life of one workspace.
func tenant(ctx context.Context, root, config *rest.Config, name string) error {
	workspace := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := servertest.CreateWorkspace(ctx, root, workspace); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	group, kind := name+".example.com", "Kind"+name
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name + "s." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": name + "s", "singular": name, "kind": kind, "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": "v1" + name, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	if _, err := client.Resource(definitions).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	objects := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1" + name, Resource: name + "s"}).Namespace("default")
	if err := useObjects(ctx, objects, group+"/v1"+name, kind); err != nil {
		return err
	}
	parent, err := dynamic.NewForConfig(root)
	if err != nil {
		return err
	}
	return parent.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")).Delete(ctx, name, metav1.DeleteOptions{})
}

// useObjects does to a resource what clients do.
func useObjects(ctx context.Context, objects dynamic.ResourceInterface, apiVersion, kind string) error {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "one"}}}
	for {
		_, err := objects.Create(ctx, object, metav1.CreateOptions{})
		if err == nil {
			break
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) {
			return err
		}
	}
	for _, version := range []string{"", "0"} {
		if _, err := objects.List(ctx, metav1.ListOptions{ResourceVersion: version}); err != nil {
			return err
		}
	}
	seconds := int64(1)
	w, err := objects.Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	w.Stop()
	if _, err := objects.Apply(ctx, "two", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "two"},
	}}, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		return err
	}
	if _, err := objects.Get(ctx, "one", metav1.GetOptions{}, "status"); err != nil {
		return err
	}
	return objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}
