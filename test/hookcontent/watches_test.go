package hookcontent

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var watchBehavior = map[string]behavior{
	"Initializer": {"36: a watch ends with the turn of its initializer", watchOfInitializer},
	"Terminator":  {"42: and with that of its terminator, while another goes on", watchOfTerminator},
	"Rules":       {"37: rules that do not allow it any more end it, others do not", watchAndRules},
	"Deletion":    {"a workspace that is deleted while it initializes has no initializers any more", watchAndDeletion},
}

// watching makes a namespace in a new workspace, by way of a hook, and watches ConfigMaps.
func (s *suite) watching(t *testing.T, kind, workspaceType, cluster string) watch.Interface {
	t.Helper()
	w, err := s.hook(t, controller, kind, workspaceType, cluster).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	t.Cleanup(w.Stop)
	return w
}

// fill makes a ConfigMap, and its namespace, as the creator.
func (s *suite) fill(t *testing.T, cluster, name string) {
	t.Helper()
	inside := s.kube(t, s.server.As(t, creator, cluster)).CoreV1()
	if _, err := inside.Namespaces().Get(t.Context(), "work", metav1.GetOptions{}); err != nil {
		_, err := inside.Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
		must(t, err)
	}
	_, err := inside.ConfigMaps("work").Create(t.Context(), configMap(name), metav1.CreateOptions{})
	must(t, err)
}

func watchOfInitializer(t *testing.T, s *suite) {
	for _, workspaceType := range []string{"ruled", "trusted"} {
		ws := s.newborn(t, workspaceType)
		w := s.watching(t, initializing, workspaceType, ws.Spec.Cluster)
		s.fill(t, ws.Spec.Cluster, "a")
		sees(t, w, "a")
		s.release(t, initializing, workspaceType, ws.Spec.Cluster)
		ended(t, w)
	}
}

func watchOfTerminator(t *testing.T, s *suite) {
	ws := s.grown(t, "both", "ruled", "trusted")
	s.fill(t, ws.Spec.Cluster, "a")
	s.remove(t, ws.Name)
	ruled := s.watching(t, ending, "ruled", ws.Spec.Cluster)
	trusted := s.watching(t, ending, "trusted", ws.Spec.Cluster)
	s.release(t, ending, "trusted", ws.Spec.Cluster)
	ended(t, trusted)
	s.release(t, ending, "ruled", ws.Spec.Cluster)
	ended(t, ruled)
	s.awaitGone(t, ws.Name)
}

func watchAndRules(t *testing.T, s *suite) {
	s.create(t, s.types, `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: changing}
  spec:
    initializer: true
    initializerPermissions: [{apiGroups: [""], resources: [configmaps], verbs: [watch]}]
`)
	ws := s.newborn(t, "changing")
	w := s.watching(t, initializing, "changing", ws.Spec.Cluster)
	s.patchType(t, "changing", `{"spec":{"initializerPermissions":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list","watch"]}]}}`)
	s.fill(t, ws.Spec.Cluster, "a")
	sees(t, w, "a")
	s.patchType(t, "changing", `{"spec":{"initializerPermissions":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}}`)
	ended(t, w)
}

func watchAndDeletion(t *testing.T, s *suite) {
	ws := s.newborn(t, "ruled")
	w := s.watching(t, initializing, "ruled", ws.Spec.Cluster)
	s.remove(t, ws.Name)
	ended(t, w)
}
