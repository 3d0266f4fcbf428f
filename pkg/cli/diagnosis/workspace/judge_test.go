package workspace_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	now  = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)
	path = logicalcluster.MustParsePath("root:acme:us")

	notFound  = apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), "us")
	forbidden = apierrors.NewForbidden(corev1alpha1.Resource("logicalclusters"), "cluster", errors.New("access denied"))
	broken    = apierrors.NewServiceUnavailable("shard is away")
)

// findings are those of a workspace that is ready, with changes.
func findings(edit func(f *workspace.Findings)) *workspace.Findings {
	f := &workspace.Findings{
		Path: path, Now: now, Hooks: map[string]hook.Described{},
		Commands: diagnosis.Commands{
			Here: logicalcluster.MustParsePath("root:acme"),
			URL:  func(p logicalcluster.Path) string { return "https://server/clusters/" + p.String() },
		},
		Workspace: &tenancyv1alpha1.Workspace{
			ObjectMeta: metav1.ObjectMeta{Name: "us", CreationTimestamp: metav1.NewTime(now.Add(-4 * time.Minute)), Annotations: map[string]string{"core.kcp.io/shard": "eu-1"}},
			Spec:       tenancyv1alpha1.WorkspaceSpec{Cluster: "abc", URL: "https://server/clusters/root:acme:us", Type: &tenancyv1alpha1.WorkspaceTypeReference{Name: "team", Path: "root:acme"}},
			Status:     tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady},
		},
		Cluster: &corev1alpha1.LogicalCluster{Status: corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady}},
	}
	if edit != nil {
		edit(f)
	}
	return f
}

func isFalse(t conditions.Type, reason, message string) conditions.Condition {
	return conditions.Condition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now)}
}

// waiting makes a workspace wait for an initializer.
func waiting(f *workspace.Findings) {
	f.Workspace.Status.Phase, f.Cluster.Status.Phase = corev1alpha1.PhaseInitializing, corev1alpha1.PhaseInitializing
	f.Cluster.Spec.Initializers = []corev1alpha1.Initializer{"system:apibindings", "xyz:team"}
	f.Cluster.Status.Initializers = []corev1alpha1.Initializer{"xyz:team"}
	f.Hooks["xyz:team"] = hook.Described{Kind: hook.Initializer, ID: "xyz:team", Name: "root:acme:team", TypeName: "team", Type: &tenancyv1alpha1.WorkspaceType{}}
}

func dying(f *workspace.Findings) {
	deleted := metav1.NewTime(now.Add(-time.Minute))
	f.Workspace.DeletionTimestamp, f.Cluster.DeletionTimestamp = &deleted, &deleted
	f.Workspace.Status.Phase, f.Cluster.Status.Phase = corev1alpha1.PhaseDeleting, corev1alpha1.PhaseDeleting
}

func held(name string, finalizers ...string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Finalizers: finalizers}}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		edit   func(f *workspace.Findings)
		// blockers are what each blocker contains, next what the first step of the first one
		// contains, and states the checks as name=state.
		blockers []string
		next     string
		states   []string
	}{
		"Healthy": {reason: "nothing blocks what is ready", states: []string{"scheduled=ok", "logical cluster=ok", "bindings=ok"}},
		"Missing": {
			reason: "what is close to it is suggested", next: "kubectl ws why :root:acme:uk",
			edit: func(f *workspace.Findings) {
				*f = workspace.Findings{Path: path, Missing: path, Siblings: []string{"uk", "payments"}, WorkspaceErr: notFound, ClusterErr: notFound, Now: now, Commands: f.Commands}
			},
			blockers: []string{"there is no workspace us in root:acme"}, states: []string{"found=failed"},
		},
		"ParentMissing": {
			reason: "it is the first part of the path that is not there which is named", next: "kubectl create workspace acme -w :root",
			edit: func(f *workspace.Findings) {
				*f = workspace.Findings{Path: path, Missing: logicalcluster.MustParsePath("root:acme"), WorkspaceErr: notFound, ClusterErr: notFound, Now: now, Commands: f.Commands}
			},
			blockers: []string{"there is no workspace acme in root"}, states: []string{"found=failed"},
		},
		"Denied": {
			reason: "whether a workspace exists that may not be read is not known", next: "kubectl create clusterrolebinding access-bob --clusterrole=system:kcp:workspace:access --user=bob --server=https://server/clusters/root:acme:us",
			edit: func(f *workspace.Findings) {
				*f = workspace.Findings{Path: path, WorkspaceErr: forbidden, ClusterErr: forbidden, User: "bob", Now: now, Commands: f.Commands}
			},
			blockers: []string{"you may not look at root:acme:us, and it may not exist"}, states: []string{"workspace=unknown", "logical cluster=unknown"},
		},
		"NoAccess": {
			reason:   "a workspace that can be seen in its parent is there",
			edit:     func(f *workspace.Findings) { f.Cluster, f.ClusterErr = nil, forbidden },
			blockers: []string{"you have no access"}, next: "kubectl auth whoami", states: []string{"scheduled=ok", "access=failed"},
		},
		"NoPermission": {
			reason: "who is in the workspace lacks a permission there, but no access",
			edit:   func(f *workspace.Findings) { f.Cluster, f.ClusterErr, f.Inside = nil, forbidden, true },
			states: []string{"scheduled=ok", "access=ok", "logical cluster=unknown"},
		},
		"NoPermissionAbove": {
			reason: "a workspace that can be entered is there",
			edit: func(f *workspace.Findings) {
				*f = workspace.Findings{Path: path, WorkspaceErr: forbidden, ClusterErr: forbidden, Inside: true, Now: now, Commands: f.Commands}
			},
			states: []string{"workspace=unknown", "logical cluster=unknown", "access=ok"},
		},
		"Unschedulable": {
			reason: "its selector can be changed as long as it has no place", next: `kubectl patch workspace us --type=merge -p '{"spec":{"location":null}}'`,
			edit: func(f *workspace.Findings) {
				f.Workspace.Spec.Cluster, f.Workspace.Spec.Location = "", &tenancyv1alpha1.WorkspaceLocation{Selector: &metav1.LabelSelector{}}
				f.Workspace.Status.Phase = corev1alpha1.PhaseUnavailable
				f.Workspace.Status.Conditions = conditions.Conditions{isFalse(tenancyv1alpha1.WorkspaceScheduled, "Unschedulable", "no shard fits")}
				f.Cluster, f.ClusterErr = nil, broken
			},
			blockers: []string{"no shard takes the workspace: no shard fits"}, states: []string{"scheduled=failed"},
		},
		"ShardGone": {
			reason: "a workspace that has a place does not get another one by its selector", next: "kubectl get shards --show-labels --server=https://server/clusters/root",
			edit: func(f *workspace.Findings) {
				f.Workspace.Spec.Location = &tenancyv1alpha1.WorkspaceLocation{Selector: &metav1.LabelSelector{}}
				f.Workspace.Status.Conditions = conditions.Conditions{isFalse(tenancyv1alpha1.WorkspaceScheduled, "Unschedulable", "shard eu-1 is gone")}
			},
			blockers: []string{"shard eu-1 is gone"}, states: []string{"scheduled=failed"},
		},
		"ShardSilent": {
			reason: "its shard does not answer", edit: func(f *workspace.Findings) { f.Cluster, f.ClusterErr = nil, broken },
			blockers: []string{"shard eu-1 does not answer for the workspace: shard is away"}, next: "kubectl get shards", states: []string{"scheduled=ok", "logical cluster=failed"},
		},
		"Disappeared": {
			reason: "what was in it is gone", edit: func(f *workspace.Findings) { f.Cluster, f.ClusterErr = nil, notFound },
			blockers: []string{"the logical cluster of the workspace is not there"}, next: "kubectl ws delete us", states: []string{"scheduled=ok", "logical cluster=failed"},
		},
		"Inactive": {
			reason: "what was taken offline is brought back by removing the annotation", next: "kubectl annotate logicalcluster cluster core.kcp.io/inactive- --server=https://server/clusters/root:acme:us",
			edit: func(f *workspace.Findings) {
				f.Cluster.Status.Phase = corev1alpha1.PhaseInactive
				f.Cluster.Annotations = map[string]string{"core.kcp.io/inactive": "true"}
			},
			blockers: []string{"taken offline"}, states: []string{"scheduled=ok", "logical cluster=ok", "bindings=ok", "online=failed"},
		},
		"Mount": {
			reason: "a mounted workspace is as good as what it mounts", next: "kubectl get Cluster.v1.mounts.example.com edge -o yaml",
			edit: func(f *workspace.Findings) {
				f.Cluster, f.ClusterErr = nil, broken
				f.Workspace.Spec.Mount = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{APIVersion: "mounts.example.com/v1", Kind: "Cluster", Name: "edge"}}
				f.Workspace.Status.Conditions = conditions.Conditions{isFalse(tenancyv1alpha1.WorkspaceMountReady, "MountObjectNotReady", `Cluster "edge" is in phase "Booting".`)}
			},
			blockers: []string{`what the workspace mounts cannot be used: Cluster "edge" is in phase "Booting".`}, states: []string{"mount=failed"},
		},
		"Initializer": {
			reason: "an initializer that nothing has removed blocks", edit: waiting,
			blockers: []string{"initializer root:acme:team: nothing has removed it, no client has touched it"}, next: "kubectl kcp debug initializer root:acme:team",
			states: []string{"scheduled=ok", "logical cluster=ok", "initializers=waiting", "bindings=ok"},
		},
		"InitializerAtWork": {
			reason: "one that was written as says by whom", edit: func(f *workspace.Findings) {
				waiting(f)
				f.Cluster.Annotations = map[string]string{tenancyv1alpha1.HooksAnnotationKey: `{"i:xyz:team":{"by":"builder","at":"2026-05-04T10:29:00Z"}}`}
			},
			blockers: []string{"builder has written as it, but not removed it"}, next: "kubectl kcp debug initializer root:acme:team",
			states: []string{"scheduled=ok", "logical cluster=ok", "initializers=waiting", "bindings=ok"},
		},
		"TypeGone": {
			reason: "an initializer whose type is gone can only be removed by hand", edit: func(f *workspace.Findings) {
				waiting(f)
				f.Hooks["xyz:team"] = hook.Described{Kind: hook.Initializer, ID: "xyz:team", Name: "xyz:team", Err: notFound}
			},
			blockers: []string{"its WorkspaceType is gone"}, next: "kubectl kcp debug initializer xyz:team --done :root:acme:us",
			states: []string{"scheduled=ok", "logical cluster=ok", "initializers=waiting", "bindings=ok"},
		},
		"InitializerFromOutside": {
			reason: "who may not look inside is told what the Workspace says", edit: func(f *workspace.Findings) {
				waiting(f)
				f.Cluster, f.ClusterErr = nil, forbidden
				f.Workspace.Status.Initializers = []corev1alpha1.Initializer{"xyz:team"}
			},
			blockers: []string{"initializer root:acme:team: nothing has removed it"}, next: "kubectl kcp debug initializer root:acme:team",
			states: []string{"scheduled=ok", "logical cluster=unknown", "initializers=waiting"},
		},
		"MissingExport": {
			reason: "default bindings wait for an export", edit: func(f *workspace.Findings) {
				waiting(f)
				f.Cluster.Status.Initializers = []corev1alpha1.Initializer{"system:apibindings"}
				f.Cluster.Status.Conditions = conditions.Conditions{isFalse(corev1alpha1.APIBindingsInitialized, "APIBindingErrors", "APIExport root:p|wild not found, which workspace type root:acme:team binds by default")}
			},
			blockers: []string{"default bindings: APIExport root:p|wild not found"}, next: "kubectl kcp debug binding root:p:wild -w :root:acme:us",
			states: []string{"scheduled=ok", "logical cluster=ok", "initializers=waiting", "bindings=ok"},
		},
		"Unbindable": {
			reason: "it is the creator who has to be permitted", edit: func(f *workspace.Findings) {
				waiting(f)
				f.Cluster.Annotations = map[string]string{tenancyv1alpha1.OwnerAnnotationKey: `{"username":"bob"}`}
				f.Cluster.Status.Initializers = []corev1alpha1.Initializer{"system:apibindings"}
				f.Cluster.Status.Conditions = conditions.Conditions{isFalse(corev1alpha1.APIBindingsInitialized, "APIBindingErrors", "no permission to bind to export root:p:wild")}
			},
			blockers: []string{"default bindings: no permission to bind to export root:p:wild"}, next: `"verbs":["bind"]`,
			states: []string{"scheduled=ok", "logical cluster=ok", "initializers=waiting", "bindings=ok"},
		},
		"Terminator": {
			reason: "a terminator that nothing has removed blocks", edit: func(f *workspace.Findings) {
				dying(f)
				f.Cluster.Spec.Terminators, f.Cluster.Status.Terminators = []corev1alpha1.Terminator{"xyz:t"}, []corev1alpha1.Terminator{"xyz:t"}
				f.Cluster.Status.Conditions = conditions.Conditions{{Type: corev1alpha1.WorkspaceContentDeleted, Status: corev1.ConditionTrue}}
			},
			blockers: []string{"terminator xyz:t: nothing has removed it, no client has touched it"}, next: "kubectl kcp debug terminator xyz:t",
			states: []string{"terminators=waiting", "content=ok"},
		},
		"Content": {
			reason: "what finalizers hold is named, three objects with a command each", edit: func(f *workspace.Findings) {
				dying(f)
				f.Left = []finalizer.Held{{Resource: schema.GroupResource{Resource: "configmaps"}, Objects: []metav1.PartialObjectMetadata{
					held("a", "apis.kcp.io/apibinding-finalizer", "x/y"), held("b", "x/y"), held("c", "x/y"), held("d", "x/y"),
				}}}
			},
			blockers: []string{"configmaps shop/a has finalizer x/y, which nobody has removed", "shop/b", "shop/c", "finalizers hold 1 more objects"},
			next:     `kubectl patch configmaps a -n shop --type=json -p '[{"op":"test","path":"/metadata/finalizers/1","value":"x/y"}`,
			states:   []string{"content=waiting"},
		},
		"Holder": {
			reason: "a finalizer on the Workspace itself is removed in the parent", edit: func(f *workspace.Findings) {
				dying(f)
				f.Workspace.Finalizers = []string{"x/y", corev1alpha1.LogicalClusterFinalizer}
			},
			blockers: []string{"the Workspace has finalizer x/y"}, next: "kubectl patch workspace us --type=json", states: []string{"content=waiting", "finalizers=waiting"},
		},
		"Nested": {
			reason: "what holds a nested workspace is what holds this one", edit: func(f *workspace.Findings) {
				dying(f)
				nested := diagnosis.New(diagnosis.Workspace, "root:acme:us:a", now)
				nested.Block("terminator x:y: nothing has removed it", "kubectl kcp debug terminator x:y")
				deeper := diagnosis.New(diagnosis.Workspace, "root:acme:us:b", now)
				deeper.Block("nested workspace root:acme:us:b:c: held", "mend it")
				f.Nested = []*diagnosis.Diagnosis{nested, deeper}
			},
			blockers: []string{"nested workspace root:acme:us:a: terminator x:y", "nested workspace root:acme:us:b:c: held"}, next: "kubectl kcp debug terminator x:y",
			states: []string{"workspaces in it=waiting", "content=waiting"},
		},
		"GoingOn": {reason: "a deletion that nothing holds is no problem", edit: dying, states: []string{"content=waiting", "deletion=waiting"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := workspace.Judge(findings(c.edit))
			var states []string
			for _, check := range d.Checks {
				states = append(states, check.Name+"="+string(check.State))
			}
			if !slices.Equal(states, c.states) {
				t.Errorf("%s: checks are %q, want %q", c.reason, states, c.states)
			}
			if len(d.Blockers) != len(c.blockers) {
				t.Fatalf("%s: blockers are %+v, want %q", c.reason, d.Blockers, c.blockers)
			}
			for i, want := range c.blockers {
				if !strings.Contains(d.Blockers[i].Message, want) {
					t.Errorf("%s: blocker %d is %q, want %q", c.reason, i, d.Blockers[i].Message, want)
				}
			}
			if c.next != "" && (len(d.Blockers[0].Next) == 0 || !strings.Contains(d.Blockers[0].Next[0], c.next)) {
				t.Errorf("%s: next is %q, want %q", c.reason, d.Blockers[0].Next, c.next)
			}
		})
	}
}
