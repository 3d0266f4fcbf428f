package route

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// top returns a LogicalCluster at a path, made so many seconds after the first.
func top(path string, seconds int64) *corev1alpha1.LogicalCluster {
	return &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{
		CreationTimestamp: metav1.Unix(1000+seconds, 0),
		Annotations:       map[string]string{logicalcluster.PathAnnotationKey: path},
	}}
}

func named(name string) logicalcluster.Name { return logicalcluster.MustParseName(name) }

func TestRootlessTrees(t *testing.T) {
	trees := NewTrees()
	trees.Set(named("acmecluster"), top("tenants:acme", 0))
	trees.Set(named("innercluster"), top("tenants:acme:inner", 0))
	trees.Set(named("rootpath"), top("root:claimed", 0))
	trees.Set(named("single"), top("single2", 0))
	trees.Set(named("thief"), top("user:alice", 0))
	trees.Set(named("garbage"), top("Not A Path:x", 0))
	owned := top("owned:path", 0)
	owned.Spec.Owner = &corev1alpha1.LogicalClusterOwner{Name: "x"}
	trees.Set(named("owned-lc"), owned)
	resolver := NewResolver(tree{
		"acmecluster/app":                       workspace("appcluster", corev1alpha1.PhaseReady),
		"innercluster/app":                      workspace("innerapp", corev1alpha1.PhaseReady),
		home.Cluster("alice").String() + "/app": workspace("homeapp", corev1alpha1.PhaseReady),
		"tenants/acme":                          workspace("byname", corev1alpha1.PhaseReady),
		"tenants/other":                         workspace("othercluster", corev1alpha1.PhaseReady),
	}, trees)
	for name, tc := range map[string]struct{ reason, path, want string }{
		"Top":       {"what claims a path outside of root is there", "tenants:acme", "acmecluster"},
		"Child":     {"and its workspaces are below it", "tenants:acme:app", "appcluster"},
		"Inner":     {"a tree may begin in another one", "tenants:acme:inner:app", "innerapp"},
		"Beside":    {"the first segment may still be a cluster", "tenants:other", "othercluster"},
		"Home":      {"a home is found by the name of its user, whatever anybody claims", "user:alice", "v1u4alow0iv9"},
		"HomeChild": {"and so is what is in it", "user:alice:app", "homeapp"},
		"Root":      {"nobody but Workspaces gives paths below root", "root:claimed", ""},
		"Owned":     {"nor to what a Workspace owns", "owned:path", ""},
		"Missing":   {"there is no such child", "tenants:acme:none", ""},
		"MissingIn": {"nor in a home", "user:alice:none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resolver.Resolve(t.Context(), logicalcluster.MustParsePath(tc.path))
			if tc.want == "" && !apierrors.IsNotFound(err) || tc.want != "" && err != nil || got.String() != tc.want {
				t.Errorf("%s: got %s, %v", tc.reason, got, err)
			}
		})
	}
	if got := len(trees.Clusters()); got != 2 {
		t.Errorf("only the tops of trees are remembered, and not %d", got)
	}
}

func TestTwoClaimOnePath(t *testing.T) {
	path := logicalcluster.MustParsePath("tenants:acme")
	younger, older, same := named("aaaa"), named("zzzz"), named("yyyy")
	for _, order := range [][]logicalcluster.Name{{younger, older, same}, {same, younger, older}, {older, same, younger}} {
		trees := NewTrees()
		for _, cluster := range order {
			seconds := int64(0)
			if cluster == younger {
				seconds = 1
			}
			trees.Set(cluster, top("tenants:acme", seconds))
		}
		for _, want := range []logicalcluster.Name{same, older, younger} {
			if got, _, ok := trees.above(path); !ok || got != want {
				t.Errorf("told in the order %v: the path leads to %s, not to %s", order, got, want)
			}
			trees.Set(want, nil)
		}
		if _, _, ok := trees.above(path); ok || len(trees.claims)+len(trees.paths) > 0 {
			t.Errorf("something is remembered of what is gone: %v, %v", trees.claims, trees.paths)
		}
	}
	trees := NewTrees()
	trees.Set(older, top("tenants:acme", 0))
	trees.Set(older, top("tenants:moved", 0))
	if _, _, ok := trees.above(path); ok {
		t.Error("what has moved is not where it was")
	}
	trees.Set(older, top("root:moved", 0))
	if len(trees.Clusters()) > 0 {
		t.Error("what is no tree any more is remembered")
	}
}

func TestExpectedPaths(t *testing.T) {
	expected := func(path logicalcluster.Path) bool { return path.String() == "root:users:x" }
	codec := serializer.NewCodecFactory(runtime.NewScheme())
	reached := errors.New("")
	handler := WithCluster(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := MissingFrom(r.Context())
		_, hasCluster := logicalcluster.FromContext(r.Context())
		if !ok || hasCluster || path.String() != "root:users:x" || r.URL.Path != "/api/v1/configmaps" || r.RequestURI != "/api/v1/configmaps?limit=1" {
			t.Errorf("it goes on without a cluster, and says where it was to go: %s, %v, %s", path, hasCluster, r.RequestURI)
		}
		reached = nil
	}), nil, NewResolver(tree{}, NewTrees()), expected, logicalcluster.Name{}, codec)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/clusters/root:users:x/api/v1/configmaps?limit=1", http.NoBody))
	if reached != nil {
		t.Error("a path that may yet lead somewhere ends before anybody knows who asks")
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/clusters/root:users:y/api/v1/configmaps", http.NoBody))
	if answer.Code != http.StatusNotFound {
		t.Errorf("any other path leads nowhere: %d", answer.Code)
	}
}
