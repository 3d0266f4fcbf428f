package route

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// tree are Workspaces by "<cluster>/<name>".
type tree map[string]*tenancyv1alpha1.Workspace

func (t tree) Get(_ context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	if ws, ok := t[cluster.String()+"/"+name]; ok {
		return ws, nil
	}
	return nil, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), name)
}

func (t tree) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	return t.Get(ctx, cluster, name)
}

// lagging is a tree of which some is only seen where it is stored.
type lagging struct {
	tree
	stored tree
}

func (l lagging) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	return l.stored.Get(ctx, cluster, name)
}

func TestResolveNew(t *testing.T) {
	resolver := NewResolver(lagging{
		tree: tree{
			"root/seen": workspace("", corev1alpha1.PhaseScheduling),
			"root/back": workspace("backcluster", corev1alpha1.PhaseUnavailable),
		},
		stored: tree{
			"root/back":   workspace("backcluster", corev1alpha1.PhaseReady),
			"root/seen":   workspace("seencluster", corev1alpha1.PhaseReady),
			"root/unseen": workspace("unseencluster", corev1alpha1.PhaseReady),
		},
	}, NewTrees())
	for path, want := range map[string]string{"root:seen": "seencluster", "root:unseen": "unseencluster", "root:back": "backcluster"} {
		parsed, err := logicalcluster.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := resolver.Resolve(t.Context(), parsed); err != nil || got.String() != want {
			t.Errorf("a client that has read that %s is ready may use it at once: got %s, %v, want %s", path, got, err, want)
		}
	}
}

func workspace(cluster string, phase corev1alpha1.Phase) *tenancyv1alpha1.Workspace {
	return &tenancyv1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Name: "any"},
		Spec:       tenancyv1alpha1.WorkspaceSpec{Cluster: cluster},
		Status:     tenancyv1alpha1.WorkspaceStatus{Phase: phase},
	}
}

func TestResolve(t *testing.T) {
	resolver := NewResolver(tree{
		"root/org":           workspace("orgcluster", corev1alpha1.PhaseReady),
		"orgcluster/team":    workspace("teamcluster", corev1alpha1.PhaseInitializing),
		"orgcluster/new":     workspace("newcluster", corev1alpha1.PhaseScheduling),
		"orgcluster/nowhere": workspace("", corev1alpha1.PhaseReady),
		"orgcluster/down":    workspace("downcluster", corev1alpha1.PhaseUnavailable),
	}, NewTrees())
	for name, tc := range map[string]struct {
		reason, path, want string
		notFound           bool
		unavailable        bool
	}{
		"Name":            {reason: "one segment is taken without a look-up", path: "whatever", want: "whatever"},
		"System":          {reason: "so is a system cluster", path: "system:admin", want: "system:admin"},
		"Child":           {reason: "a workspace leads to its cluster", path: "root:org", want: "orgcluster"},
		"Grandchild":      {reason: "segment by segment", path: "root:org:team", want: "teamcluster"},
		"FromAnID":        {reason: "a path may begin at any cluster", path: "orgcluster:team", want: "teamcluster"},
		"Unknown":         {reason: "there is no such workspace", path: "root:org:none", notFound: true},
		"UnknownParent":   {reason: "nor below one that is not there", path: "root:none:team", notFound: true},
		"Scheduling":      {reason: "what has no place yet cannot be reached", path: "root:org:new", notFound: true},
		"WithoutACluster": {reason: "nor what says no cluster", path: "root:org:nowhere", notFound: true},
		"Unavailable":     {reason: "it exists but cannot be used", path: "root:org:down", unavailable: true},
		"BelowIt":         {reason: "nor what is below it", path: "root:org:down:x", unavailable: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resolver.Resolve(t.Context(), logicalcluster.MustParsePath(tc.path))
			switch {
			case tc.notFound:
				if !apierrors.IsNotFound(err) || err.Error() != `workspaces.tenancy.kcp.io "`+tc.path+`" not found` {
					t.Errorf("%s: %v, %v", tc.reason, got, err)
				}
			case tc.unavailable:
				if !errors.Is(err, ErrUnavailable) {
					t.Errorf("%s: %v, %v", tc.reason, got, err)
				}
			case err != nil || got.String() != tc.want:
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}

func mounted(url string, phase corev1alpha1.Phase) *tenancyv1alpha1.Workspace {
	ws := workspace("", phase)
	ws.Spec.Mount, ws.Spec.URL = &tenancyv1alpha1.Mount{}, url
	return ws
}

func TestTarget(t *testing.T) {
	const url = "https://example.com"
	alias := mounted(url, corev1alpha1.PhaseReady)
	alias.Spec.Cluster = "orgcluster"
	resolver := NewResolver(tree{
		"root/org":        workspace("orgcluster", corev1alpha1.PhaseReady),
		"orgcluster/m":    mounted(url, corev1alpha1.PhaseReady),
		"orgcluster/new":  mounted("", corev1alpha1.PhaseScheduling),
		"orgcluster/soon": mounted(url, corev1alpha1.PhaseScheduling),
		"orgcluster/down": mounted(url, corev1alpha1.PhaseUnavailable),
		"root/alias":      alias,
		"orgcluster/org":  workspace("other", corev1alpha1.PhaseReady),
	}, NewTrees())
	for name, tc := range map[string]struct {
		reason, path string
		parent, name string
		unavailable  bool
	}{
		"Mounted":     {reason: "a mounted workspace leads to an address", path: "root:org:m", parent: "orgcluster", name: "m"},
		"FromAnID":    {reason: "also by the name of its parent", path: "orgcluster:m", parent: "orgcluster", name: "m"},
		"New":         {reason: "one without an address leads nowhere", path: "root:org:new"},
		"Soon":        {reason: "nor does one that has never been ready", path: "root:org:soon"},
		"Down":        {reason: "one that is down says so", path: "root:org:down", unavailable: true},
		"Below":       {reason: "it has no children", path: "root:org:m:child"},
		"Alias":       {reason: "a cluster that somebody wrote into it does not count", path: "root:alias", parent: "root", name: "alias"},
		"ChildOfFake": {reason: "nor for its children", path: "root:alias:org"},
	} {
		t.Run(name, func(t *testing.T) {
			path := logicalcluster.MustParsePath(tc.path)
			got, err := resolver.Target(t.Context(), path)
			switch {
			case tc.name != "":
				if err != nil || got.Mount == nil || got.Mount.Parent.String() != tc.parent || got.Mount.Workspace != tc.name || got.Mount.URL != url || !got.Cluster.Empty() {
					t.Errorf("%s: got %+v, %v", tc.reason, got, err)
				}
			case tc.unavailable:
				if !errors.Is(err, ErrUnavailable) {
					t.Errorf("%s: got %+v, %v", tc.reason, got, err)
				}
			case !apierrors.IsNotFound(err):
				t.Errorf("%s: got %+v, %v", tc.reason, got, err)
			}
			if cluster, err := resolver.Resolve(t.Context(), path); err == nil {
				t.Errorf("there is no logical cluster, but got %s", cluster)
			}
		})
	}
}
