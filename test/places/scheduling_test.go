package places

import (
	"fmt"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const unschedulable = "experimental.core.kcp.io/unschedulable"

// wanting is the spec of a workspace that wants to be where a label is true.
func wanting(label string) string {
	return fmt.Sprintf(`{"type":{"name":"universal","path":"root"},"location":{"selector":{"matchLabels":{%q:"true"}}}}`, label)
}

func scheduled(ws *tenancyv1alpha1.Workspace) conditions.Condition {
	condition, _ := conditions.Get(ws, tenancyv1alpha1.WorkspaceScheduled)
	return condition
}

// unscheduled waits until a workspace says that it has no place, and why.
func (c caller) unscheduled(name, reason string, words ...string) *tenancyv1alpha1.Workspace {
	c.t.Helper()
	ws := c.phase(name, corev1alpha1.PhaseUnavailable)
	condition := scheduled(ws)
	if condition.Status != "False" || condition.Reason != reason || condition.Severity != conditions.SeverityError {
		c.t.Errorf("%s: got %+v", name, condition)
	}
	for _, word := range words {
		if !strings.Contains(condition.Message, word) {
			c.t.Errorf("%s: got %q, which does not say %q", name, condition.Message, word)
		}
	}
	return ws
}

// TestScheduling is rows 51 and 52: where workspaces go, and what keeps them from going
// anywhere. It changes the only shard that there is, so it has a server for itself.
func TestScheduling(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t)))
	root := s.as(t, s.admin, "root")
	for _, test := range []struct {
		name, reason string
		test         func(*testing.T, *suite, caller)
	}{
		{"NoShardHasTheLabel", "rows 51 and 52: it waits, cannot be reached meanwhile, and goes as soon as a shard has the label", labelComes},
		{"NewShard", "row 51: a shard that is added will do as well", shardComes},
		{"Unschedulable", "row 51: a shard that takes nobody takes nobody, until it does", shardIsClosed},
		{"InvalidSelector", "a selector that means nothing matches no shard", invalidSelector},
		{"SelectorChanges", "what nobody has placed yet may change its mind", selectorChanges},
		{"BadAddress", "a shard without a good address can take nobody", badAddress},
		{"Region", "the workspace says in which region it is, whatever its author says", region},
		{"ShardVanishes", "a workspace whose shard is gone is unavailable, and comes back with it", shardVanishes},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Log(test.reason)
			root.t = t
			test.test(t, s, root)
		})
	}
}

func (c caller) label(shard, key, value string) {
	c.t.Helper()
	c.patch(shardAPI+"/"+shard, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, value)).must(c.t)
}

func labelComes(t *testing.T, s *suite, root caller) {
	root.create("waits", wanting("comes")).must(t)
	ws := root.unscheduled("waits", "Unschedulable", "comes=true")
	if ws.Spec.Cluster != "" || ws.Spec.URL != "" {
		t.Errorf("it has no place, but got %+v", ws.Spec)
	}
	for _, path := range []string{"root:waits", "root:waits:child"} {
		s.as(t, s.admin, path).get("/api").is(t, 503, "Not available.")
		s.as(t, "", path).get("/api").is(t, 503, "Not available.")
	}
	root.label("root", "comes", `"true"`)
	ws = root.phase("waits", corev1alpha1.PhaseReady)
	if condition := scheduled(ws); condition.Status != "True" || condition.Reason != "" {
		t.Errorf("got %+v", condition)
	}
	s.as(t, s.admin, "root:waits").get("/api").is(t, 200)
	// Only who has no place yet is asked.
	root.label("root", "comes", "null")
	root.patch(tenancyAPI+"/workspaces/waits", `{"metadata":{"labels":{"look":"again"}}}`).must(t)
	if ws := root.workspace("waits"); ws.Status.Phase != corev1alpha1.PhaseReady {
		t.Errorf("got %+v", ws.Status)
	}
}

func shardComes(t *testing.T, _ *suite, root caller) {
	root.create("for-another", wanting("another")).must(t)
	root.unscheduled("for-another", "Unschedulable")
	root.post(shardAPI, `{"apiVersion":"core.kcp.io/v1alpha1","kind":"Shard","metadata":{"name":"another","labels":{"another":"true"}},
		"spec":{"baseURL":"https://another.example.com","externalURL":"https://another.example.com/kcp/"}}`).must(t)
	ws := root.phase("for-another", corev1alpha1.PhaseReady)
	if ws.Spec.URL != "https://another.example.com/kcp/clusters/root:for-another" || ws.Annotations[corev1alpha1.ShardAnnotationKey] != "another" {
		t.Errorf("got %+v", ws)
	}
	root.delete(tenancyAPI + "/workspaces/for-another").must(t)
	root.delete(shardAPI + "/another").must(t)
}

func shardIsClosed(t *testing.T, _ *suite, root caller) {
	root.annotate(shardAPI+"/root", unschedulable, `"false"`).must(t)
	root.create("refused", `{"type":{"name":"universal","path":"root"}}`).must(t)
	root.unscheduled("refused", "Unschedulable")
	root.annotate(shardAPI+"/root", unschedulable, "null").must(t)
	root.phase("refused", corev1alpha1.PhaseReady)
}

func invalidSelector(t *testing.T, _ *suite, root caller) {
	root.create("unclear", `{"type":{"name":"universal","path":"root"},"location":{"selector":{"matchExpressions":[{"key":"a","operator":"Near","values":["b"]}]}}}`).must(t)
	root.unscheduled("unclear", "Unschedulable", "spec.location.selector", "Near")
	root.delete(tenancyAPI + "/workspaces/unclear").must(t)
	servertest.Eventually(t, "what has no place can go", func() (bool, any) {
		a := root.get(tenancyAPI + "/workspaces/unclear")
		return a.code == 404, a
	})
}

func selectorChanges(t *testing.T, _ *suite, root caller) {
	root.create("changes", wanting("nowhere")).must(t)
	root.unscheduled("changes", "Unschedulable")
	root.patch(tenancyAPI+"/workspaces/changes", `{"spec":{"location":{"selector":{"matchLabels":{"nowhere":null,"name":"root"}}}}}`).must(t)
	root.phase("changes", corev1alpha1.PhaseReady)
}

func badAddress(t *testing.T, _ *suite, root caller) {
	root.post(shardAPI, `{"apiVersion":"core.kcp.io/v1alpha1","kind":"Shard","metadata":{"name":"odd","labels":{"odd":"true"}},
		"spec":{"baseURL":"https://odd.example.com","externalURL":"/no/address"}}`).must(t)
	root.create("at-odds", wanting("odd")).must(t)
	root.unscheduled("at-odds", "Unknown", "/no/address", "odd")
	root.patch(shardAPI+"/odd", `{"spec":{"externalURL":"https://odd.example.com"}}`).must(t)
	root.phase("at-odds", corev1alpha1.PhaseReady)
	root.delete(tenancyAPI + "/workspaces/at-odds").must(t)
	root.delete(shardAPI + "/odd").must(t)
}

func region(t *testing.T, _ *suite, root caller) {
	root.label("root", "region", `"north"`)
	root.post(tenancyAPI+"/workspaces", `{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"north","labels":{"region":"south"}},"spec":{"type":{"name":"universal","path":"root"}}}`).must(t)
	if ws := root.phase("north", corev1alpha1.PhaseReady); ws.Labels["region"] != "north" {
		t.Errorf("got %v", ws.Labels)
	}
	root.do("GET", tenancyAPI+"/workspaces/north", "", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").is(t, 200, `"Region"`, `"north"`)
	root.label("root", "region", "null")
	root.post(tenancyAPI+"/workspaces", `{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"nowhere","labels":{"region":"south"}},"spec":{"type":{"name":"universal","path":"root"}}}`).must(t)
	if ws := root.phase("nowhere", corev1alpha1.PhaseReady); ws.Labels["region"] != "" {
		t.Errorf("got %v", ws.Labels)
	}
}

func shardVanishes(t *testing.T, s *suite, root caller) {
	root.create("stays", `{"type":{"name":"universal","path":"root"}}`).must(t)
	root.phase("stays", corev1alpha1.PhaseReady)
	shard := root.get(shardAPI + "/root").must(t).body
	root.delete(shardAPI + "/root").must(t)
	ws := root.unscheduled("stays", "Unschedulable", `"root"`, "does not exist")
	if ws.Spec.Cluster == "" || ws.Spec.URL == "" {
		t.Errorf("it is still where it was, but got %+v", ws.Spec)
	}
	s.as(t, s.admin, "root:stays").get("/api").is(t, 503, "Not available.")
	s.as(t, s.admin, ws.Spec.Cluster).get("/api").is(t, 200)
	root.post(shardAPI, strings.NewReplacer(`"resourceVersion":`, `"dropped":`, `"uid":`, `"dropped2":`).Replace(shard)).must(t)
	root.phase("stays", corev1alpha1.PhaseReady)
	s.as(t, s.admin, "root:stays").get("/api").is(t, 200)
}

// TestExternalAddress shows that workspaces have the address that their shard has now: of a
// shard that changes it, and of a server that is started with another one.
func TestExternalAddress(t *testing.T) {
	directory := t.TempDir()
	server := servertest.StartIn(t, directory, "--shard-external-url=https://first.example.com/kcp")
	s := newSuite(t, server)
	path := s.universal(t)
	root, name := s.as(t, s.admin, "root"), strings.TrimPrefix(path, "root:")
	s.as(t, s.admin, path).create("child", `{"type":{"name":"universal","path":"root"}}`).must(t)
	child := s.as(t, s.admin, path).phase("child", corev1alpha1.PhaseReady)
	if want := "https://first.example.com/kcp/clusters/" + path + ":child"; child.Spec.URL != want {
		t.Errorf("got %s, want %s", child.Spec.URL, want)
	}
	addressed := func(s *suite, base string) {
		t.Helper()
		servertest.Eventually(t, "workspaces have the address "+base, func() (bool, any) {
			inside := s.as(t, s.admin, path)
			urls := map[string]string{
				s.as(t, s.admin, "root").workspace(name).Spec.URL:      base + "/clusters/" + path,
				inside.workspace("child").Spec.URL:                     base + "/clusters/" + path + ":child",
				inside.cluster().Status.URL:                            base + "/clusters/" + inside.cluster().Annotations["kcp.io/cluster"],
				s.as(t, s.admin, "root").cluster().Status.URL:          base + "/clusters/root",
				s.as(t, s.admin, path+":child").cluster().Status.URL:   base + "/clusters/" + child.Spec.Cluster,
				s.as(t, s.master, "system:shard").cluster().Status.URL: base + "/clusters/system:shard",
			}
			for got, want := range urls {
				if got != want {
					return false, urls
				}
			}
			return true, nil
		})
	}
	addressed(s, "https://first.example.com/kcp")
	root.patch(shardAPI+"/root", `{"spec":{"externalURL":"https://second.example.com/"}}`).must(t)
	addressed(s, "https://second.example.com")
	server.Stop()
	addressed(newSuite(t, servertest.StartIn(t, directory, "--shard-external-url=https://third.example.com")), "https://third.example.com")
}
