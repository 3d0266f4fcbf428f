package route

import (
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Trees are the tops of the trees of workspaces that do not begin at root, by their paths.
// It is told of LogicalClusters and remembers nothing of any other, homes among them:
// these are found by the names of their users.
//
// Where two claim the same path it leads to the older one, by their names if they are of
// the same second: to the same one after every restart.
type Trees struct {
	mu sync.RWMutex
	// claims are sorted, first the one that the path leads to.
	claims map[logicalcluster.Path][]claim
	paths  map[logicalcluster.Name]logicalcluster.Path
}

// claim is a logical cluster that says it is at a path.
type claim struct {
	cluster logicalcluster.Name
	since   time.Time
}

// NewTrees returns Trees that knows of none.
func NewTrees() *Trees {
	return &Trees{claims: map[logicalcluster.Path][]claim{}, paths: map[logicalcluster.Name]logicalcluster.Path{}}
}

// Set notes what the LogicalCluster of a cluster says; lc is nil if there is none any more.
func (t *Trees) Set(cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) {
	path, ok := tenancy.RootlessPath(lc)
	if ok {
		_, _, isHome := home.Find(path.Segments())
		ok = !isHome
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.paths[cluster]
	if known == ok && before == path || !known && !ok {
		return
	}
	t.remove(cluster)
	if ok {
		t.add(path, claim{cluster: cluster, since: lc.CreationTimestamp.Time})
	}
}

func (t *Trees) add(path logicalcluster.Path, c claim) {
	claims := append(t.claims[path], c)
	slices.SortFunc(claims, func(a, b claim) int {
		if order := a.since.Compare(b.since); order != 0 {
			return order
		}
		return strings.Compare(a.cluster.String(), b.cluster.String())
	})
	t.claims[path], t.paths[c.cluster] = claims, path
	if len(claims) > 1 {
		klog.Background().Info("more than one logical cluster claims a path, which leads to the oldest of them",
			"path", path, "cluster", claims[0].cluster, "others", len(claims)-1)
	}
}

func (t *Trees) remove(cluster logicalcluster.Name) {
	path, ok := t.paths[cluster]
	if !ok {
		return
	}
	delete(t.paths, cluster)
	left := slices.DeleteFunc(t.claims[path], func(c claim) bool { return c.cluster == cluster })
	if len(left) == 0 {
		delete(t.claims, path)
		return
	}
	t.claims[path] = left
}

// Clusters returns the logical clusters that Trees remembers.
func (t *Trees) Clusters() []logicalcluster.Name {
	t.mu.RLock()
	defer t.mu.RUnlock()
	clusters := make([]logicalcluster.Name, 0, len(t.paths))
	for cluster := range t.paths {
		clusters = append(clusters, cluster)
	}
	return clusters
}

// above returns the top of the tree that path is in, and how many of its segments lead
// there. With a tree inside of another the inner one counts.
func (t *Trees) above(path logicalcluster.Path) (top logicalcluster.Name, segments int, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.claims) == 0 {
		return logicalcluster.Name{}, 0, false
	}
	for ok = true; ok; path, ok = path.Parent() {
		if claims := t.claims[path]; len(claims) > 0 {
			return claims[0].cluster, len(path.Segments()), true
		}
	}
	return logicalcluster.Name{}, 0, false
}
