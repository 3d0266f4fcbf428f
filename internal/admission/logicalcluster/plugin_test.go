package logicalcluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/logicalcluster"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	names "github.com/forkless/kcp/pkg/logicalcluster"
)

type lc = corev1alpha1.LogicalCluster

func in(phase corev1alpha1.Phase, change ...func(*lc)) *lc {
	l := &lc{}
	l.Name, l.Kind, l.APIVersion = "cluster", "LogicalCluster", "core.kcp.io/v1alpha1"
	l.Spec.CreatedBy = &authenticationv1.UserInfo{Username: "alice", Groups: []string{"a"}}
	l.Spec.Initializers = []corev1alpha1.Initializer{"root:a", "root:b"}
	l.Spec.Terminators = []corev1alpha1.Terminator{"root:t"}
	l.Status.Phase = phase
	for _, c := range change {
		c(l)
	}
	return l
}

func waiting(initializers ...corev1alpha1.Initializer) func(*lc) {
	return func(l *lc) { l.Status.Initializers = initializers }
}

func ending(terminators ...corev1alpha1.Terminator) func(*lc) {
	return func(l *lc) { l.Status.Terminators = terminators }
}

func annotated(key, value string) func(*lc) {
	return func(l *lc) { l.Annotations = map[string]string{key: value} }
}

func request(t *testing.T, operation admission.Operation, object, old *lc, who user.Info) admissiontest.Request {
	t.Helper()
	r := admissiontest.Request{
		Resource:  corev1alpha1.GroupVersion.WithResource("logicalclusters"),
		Kind:      "LogicalCluster",
		Operation: operation,
		Name:      "cluster",
		User:      who,
	}
	if object != nil {
		r.Object = admissiontest.Unstructured(t, object)
	}
	if old != nil {
		r.Old = admissiontest.Unstructured(t, old)
	}
	return r
}

func TestAdmitCopies(t *testing.T) {
	r := request(t, admission.Update, in("Initializing", waiting("root:other")), in("Scheduling"), admissiontest.Masters())
	if err := logicalcluster.New().Admit(admissiontest.In(t, names.Root), r.Attributes(), nil); err != nil {
		t.Fatal(err)
	}
	status, _, _ := unstructured.NestedMap(r.Object.(*unstructured.Unstructured).Object, "status")
	want := map[string]any{
		"phase":        "Initializing",
		"initializers": []any{"root:a", "root:b"},
		"terminators":  []any{"root:t"},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("the status begins with what the spec says (-want +got):\n%s", diff)
	}

	r = request(t, admission.Update, in("Initializing", waiting("root:a")), in("Initializing", waiting("root:a", "root:b")), admissiontest.Masters())
	if err := logicalcluster.New().Admit(admissiontest.In(t, names.Root), r.Attributes(), nil); err != nil {
		t.Fatal(err)
	}
	initializers, _, _ := unstructured.NestedStringSlice(r.Object.(*unstructured.Unstructured).Object, "status", "initializers")
	if diff := cmp.Diff([]string{"root:a"}, initializers); diff != "" {
		t.Errorf("they are not copied again (-want +got):\n%s", diff)
	}
}

func TestValidateUpdate(t *testing.T) {
	cases := map[string]struct {
		reason  string
		old, lc *lc
		denied  string
	}{
		"Nothing": {reason: "what does not change is fine", old: in("Ready"), lc: in("Ready")},
		"CreatedBy": {
			reason: "the creator stays", old: in("Ready"),
			lc:     in("Ready", func(l *lc) { l.Spec.CreatedBy = &authenticationv1.UserInfo{Username: "bob"} }),
			denied: "spec.createdBy is immutable",
		},
		"CreatedByGroups": {
			reason: "with all that is known of them", old: in("Ready"),
			lc:     in("Ready", func(l *lc) { l.Spec.CreatedBy.Groups = []string{"system:masters"} }),
			denied: "spec.createdBy is immutable",
		},
		"CreatedByRemoved": {
			reason: "and is not forgotten", old: in("Ready"),
			lc: in("Ready", func(l *lc) { l.Spec.CreatedBy = nil }), denied: "spec.createdBy is immutable",
		},
		"SpecInitializers": {
			reason: "who had to finish is history", old: in("Ready"),
			lc:     in("Ready", func(l *lc) { l.Spec.Initializers = l.Spec.Initializers[:1] }),
			denied: "spec.initializers is immutable",
		},
		"SpecInitializersOrder": {
			reason: "as a set", old: in("Ready"),
			lc: in("Ready", func(l *lc) { l.Spec.Initializers = []corev1alpha1.Initializer{"root:b", "root:a"} }),
		},
		"Begin": {
			reason: "initialization begins with all initializers",
			old:    in("Scheduling"), lc: in("Initializing", waiting("root:b", "root:a")),
		},
		"BeginWithLess": {
			reason: "none can be skipped", old: in("Scheduling"), lc: in("Initializing", waiting("root:a")),
			denied: "status.initializers must be those of spec.initializers",
		},
		"Shrink": {
			reason: "they are removed one by one",
			old:    in("Initializing", waiting("root:a", "root:b")), lc: in("Initializing", waiting("root:b")),
		},
		"Grow": {
			reason: "none is added", old: in("Initializing", waiting("root:a")), lc: in("Initializing", waiting("root:a", "root:c")),
			denied: "status.initializers can only be removed, not added",
		},
		"Leave": {reason: "with none left it is Ready", old: in("Initializing", waiting("root:a")), lc: in("Ready")},
		"LeaveEarly": {
			reason: "and not before", old: in("Initializing", waiting("root:a")), lc: in("Ready", waiting("root:a")),
			denied: `status.initializers must be empty before status.phase can be "Ready"`,
		},
		"AddToReady": {
			reason: "a Ready one waits for nobody", old: in("Ready"), lc: in("Ready", waiting("root:a")),
			denied: "status.initializers is immutable",
		},
		"Back": {
			reason: "there is no way back", old: in("Ready"), lc: in("Initializing", waiting("root:a", "root:b")),
			denied: `status.phase cannot go from "Ready" back to "Initializing"`,
		},
		"Terminating": {
			reason: "phases beyond are the system's", old: in("Ready"), lc: in("Terminating"),
			denied: `status.phase cannot go from "Ready" back to "Terminating"`,
		},
		"InitializeInactive": {
			reason: "what was offline would let its initializers in again", old: in("Inactive"), lc: in("Initializing", waiting("root:a", "root:b")),
			denied: `status.phase cannot go from "Inactive" back to "Initializing"`,
		},
		"InitializeTerminating": {
			reason: "so would what ends", old: in("Terminating"), lc: in("Initializing", waiting("root:a", "root:b")),
			denied: `status.phase cannot go from "Terminating" back to "Initializing"`,
		},
		"BeginWithTerminators": {
			reason: "it begins with those of the spec", old: in("Scheduling"), lc: in("Initializing", waiting("root:a", "root:b"), ending("root:t")),
		},
		"BeginWithMoreTerminators": {
			reason: "and with no others", old: in("Scheduling"), lc: in("Initializing", waiting("root:a", "root:b"), ending("root:t", "root:x")),
			denied: "status.terminators can only be removed, not added",
		},
		"AddTerminator": {
			reason: "it could act as the creator later", old: in("Ready", ending("root:t")), lc: in("Ready", ending("root:t", "root:x")),
			denied: "status.terminators can only be removed, not added",
		},
		"AddTerminatorToEnding": {
			reason: "or at once", old: in("Deleting"), lc: in("Deleting", ending("root:t")),
			denied: "status.terminators can only be removed, not added",
		},
		"ReplaceTerminator": {
			reason: "nor is one added for another", old: in("Ready", ending("root:t")), lc: in("Ready", ending("root:x")),
			denied: "status.terminators can only be removed, not added",
		},
		"RemoveTerminator": {reason: "one whose controller is gone can be removed", old: in("Terminating", ending("root:t", "root:x")), lc: in("Terminating", ending("root:x"))},
		"Skip":             {reason: "forward is allowed", old: in("Scheduling"), lc: in("Ready")},
		"Inactive": {
			reason: "a Ready one can be taken offline", old: in("Ready"), lc: in("Ready", annotated("core.kcp.io/inactive", "true")),
		},
		"InactiveEarly": {
			reason: "others cannot", old: in("Initializing", waiting("root:a")),
			lc:     in("Initializing", waiting("root:a"), annotated("core.kcp.io/inactive", "true")),
			denied: `can only be set when status.phase is "Ready"`,
		},
		"LegacyInactive": {
			reason: "under its older name neither", old: in("Scheduling"),
			lc:     in("Scheduling", annotated("internal.kcp.io/inactive", "true")),
			denied: `can only be set when status.phase is "Ready"`,
		},
		"InactiveFalse": {
			reason: "other values mean nothing", old: in("Scheduling"), lc: in("Scheduling", annotated("core.kcp.io/inactive", "yes")),
		},
		"StaysInactive": {
			reason: "what was set before stays", old: in("Inactive", annotated("core.kcp.io/inactive", "true")),
			lc: in("Inactive", annotated("core.kcp.io/inactive", "true")),
		},
		"ActiveAgain": {
			reason: "and may always go", old: in("Inactive", annotated("core.kcp.io/inactive", "true")), lc: in("Inactive"),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, who := range []user.Info{admissiontest.User(), admissiontest.User("system:kcp:admin")} {
				r := request(t, admission.Update, c.lc, c.old, who)
				admissiontest.Check(t, c.reason, logicalcluster.New().Validate(admissiontest.In(t, names.Root), r.Attributes(), nil), c.denied)
			}
		})
	}
}

func TestValidateCreateAndDelete(t *testing.T) {
	directly := func(l *lc) { l.Spec.DirectlyDeletable = true }
	cases := map[string]struct {
		reason    string
		operation admission.Operation
		lc, old   *lc
		denied    string
	}{
		"Create":         {reason: "the system makes them", operation: admission.Create, lc: in(""), denied: "LogicalCluster cannot be created"},
		"Delete":         {reason: "they go with their workspace", operation: admission.Delete, old: in("Ready"), denied: "LogicalCluster cannot be deleted"},
		"DeleteDirectly": {reason: "unless they say otherwise", operation: admission.Delete, old: in("Ready", directly)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request(t, c.operation, c.lc, c.old, nil)
			admissiontest.Check(t, c.reason, logicalcluster.New().Validate(admissiontest.In(t, names.Root), r.Attributes(), nil), c.denied)
			for _, group := range []string{
				"system:masters", "system:kcp:logical-cluster-admin",
				"system:kcp:external-logical-cluster-admin", "system:kcp:tenancy:workspace-bootstrapper",
			} {
				r.User = admissiontest.User(group)
				admissiontest.Check(t, group+" is not bound", logicalcluster.New().Validate(admissiontest.In(t, names.Root), r.Attributes(), nil), "")
			}
		})
	}
}
