package hookcontent

import (
	"context"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/controller"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func annotated(cluster logicalcluster.Name) map[string]string {
	return map[string]string{logicalcluster.AnnotationKey: cluster.String()}
}

// TestRequestsEnd: a request goes on exactly as long as it could begin anew.
func TestRequestsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		id     string
		change func(*stored)
		ends   bool
	}{
		"Nothing":   {"an event that changes nothing changes nothing", shop, func(*stored) {}, false},
		"OtherHook": {"nor does another hook that is done", shop, func(s *stored) { s.clusters[team] = initializing(shop) }, false},
		"Done":      {"a hook that is done is done", shop, func(s *stored) { s.clusters[team] = initializing(bare) }, true},
		"Phase":     {"so is the phase", shop, func(s *stored) { s.clusters[team].Status.Phase = corev1alpha1.PhaseReady }, true},
		"Gone":      {"and the workspace", bare, func(s *stored) { delete(s.clusters, team) }, true},
		"OtherRules": {"rules that still allow it let it go on", shop, func(s *stored) {
			s.types[shop].Spec.InitializerPermissions = s.types[shop].Spec.InitializerPermissions[:1]
		}, false},
		"NoRule": {"rules that do not end it", shop, func(s *stored) {
			s.types[shop].Spec.InitializerPermissions = s.types[shop].Spec.InitializerPermissions[1:]
		}, true},
		"OtherMode":     {"without any rules the caller would be somebody else", shop, func(s *stored) { s.types[shop].Spec.InitializerPermissions = nil }, true},
		"OtherModeBack": {"and so with the first one", bare, func(s *stored) { s.types[bare].Spec = s.types[shop].Spec }, true},
		"TypeGone":      {"without the type nobody knows", shop, func(s *stored) { delete(s.types, shop) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStored(initializing(shop, bare))
			b := newBench(s)
			b.during = func(ctx context.Context) {
				lc := s.clusters[team].DeepCopy()
				lc.Annotations = annotated(team)
				tc.change(s)
				keys := b.runningIn(lc)
				if len(keys) != 1 {
					t.Fatalf("the cluster is watched, but got %v", keys)
				}
				if err := b.reconcile(t.Context(), keys[0]); err != nil {
					t.Fatal(err)
				}
				if ended := ctx.Err() != nil; ended != tc.ends {
					t.Errorf("%s: ended: %t", tc.reason, ended)
				}
			}
			got := b.do(t.Context(), caller, http.MethodGet, initializers, tc.id, team, configMaps+"?watch=true", nil)
			if b.seen == nil {
				t.Fatalf("got %d %s", got.Code, got.Body)
			}
			if len(b.running.in) != 0 {
				t.Errorf("a watch that is over is remembered: %v", b.running.in)
			}
		})
	}
}

// TestRequestsOfTypes: a changed type is looked up where its hooks watch, and only there.
func TestRequestsOfTypes(t *testing.T) {
	b := newBench(newStored(initializing(shop)))
	workspaceType := func(cluster logicalcluster.Name, name string) *tenancyv1alpha1.WorkspaceType {
		return &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotated(cluster)}}
	}
	if keys := b.runningBy(workspaceType(provider, "shop")); len(keys) != 0 {
		t.Errorf("without a watch there is nothing to look at, got %v", keys)
	}
	b.during = func(context.Context) {
		if keys := b.runningBy(workspaceType(provider, "shop")); len(keys) != 1 || keys[0] != (controller.Key{Cluster: team}) {
			t.Errorf("got %v", keys)
		}
		if keys := append(b.runningBy(workspaceType(provider, "other")), b.runningBy(workspaceType(team, "shop"))...); len(keys) != 0 {
			t.Errorf("these types are others: got %v", keys)
		}
		if keys := b.allRunning(); len(keys) != 1 {
			t.Errorf("after a gap all that runs is looked at: got %v", keys)
		}
	}
	b.do(t.Context(), caller, http.MethodGet, initializers, shop, team, configMaps+"?watch=true", nil)
	if b.seen == nil {
		t.Error("the watch was not served")
	}
}

// TestRequestBegins tells the story of a request that begins while its hook is being removed:
// the controller comes by before the request has been decided about, on older data.
func TestRequestBegins(t *testing.T) {
	b := newBench(newStored(initializing(shop)))
	a := &attempt{cluster: team}
	a.hook.Cluster, a.hook.Type, a.hook.ID, a.hook.Kind = provider, "bare", bare, "initializing"
	b.Content.Clusters.(clustersIn).clusters[team] = initializing(bare)
	ctx, end := b.running.begin(t.Context(), a)
	defer end()
	a.caller = caller
	err := b.reconcile(t.Context(), controller.Key{Cluster: team})
	if ctx.Err() != nil {
		t.Error("it may be granted yet")
	}
	if err == nil || err.Error() != controller.After(lookAgain).Error() {
		t.Errorf("it has to be looked at again in %s, got %v", lookAgain, err)
	}
}
