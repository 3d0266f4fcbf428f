package policies

import (
	"bytes"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// isolation: policies of the same names in two workspaces, of which each has its own
// content, and a third workspace that has none.
func isolation(t *testing.T, w *workspace) {
	other, none := newWorkspace(t, w.server), newWorkspace(t, w.server)
	for at, color := range map[*workspace]string{w: "red", other: "blue"} {
		at.create(t,
			applying("policy", `Object{data: {"painted": "`+color+`"}}`), mutatingBinding("policy"),
			validating("policy", admissionregistrationv1.Validation{
				Expression: "object.data.color == '" + color + "'", Message: "not " + color,
			}), binding("policy"))
	}
	for at, colors := range map[*workspace][2]string{w: {"red", "blue"}, other: {"blue", "red"}} {
		if refusal := at.inForce(t, "color", colors[1]); !strings.HasSuffix(refusal.Message, "not "+colors[0]) {
			t.Errorf("where it should be %s it is refused because of %v", colors[0], refusal.Message)
		}
		at.mutated(t, "the workspace paints", func(m *corev1.ConfigMap) bool { return m.Data["painted"] == colors[0] }, "color", colors[0])
	}
	plain, err := none.createConfigMap(t, "plain", "color", "green")
	if err != nil {
		t.Fatalf("the third workspace has no policies: %v", err)
	}
	if len(plain.Data) != 1 {
		t.Errorf("the third workspace has got %v", plain.Data)
	}
	// What goes in one stays in the other.
	for _, remove := range []error{
		w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "policy", metav1.DeleteOptions{}),
		w.kube.AdmissionregistrationV1().MutatingAdmissionPolicies().Delete(t.Context(), "policy", metav1.DeleteOptions{}),
	} {
		if remove != nil {
			t.Fatal(remove)
		}
	}
	w.mutated(t, "the policies are gone", func(m *corev1.ConfigMap) bool { return len(m.Data) == 1 }, "color", "blue")
	other.inForce(t, "color", "red")
}

// TestRestart: nothing gets past a policy after a restart, not even the first request.
func TestRestart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	first := server.Workspace(t, "root", "kept")
	w := open(t, server, first.Name, first.Spec.Cluster)
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "never"}), binding("policy"))
	w.inForce(t)
	w.typeChecked(t, "policy")
	policies := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	before, err := policies.Get(t.Context(), "policy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()

	w = open(t, servertest.StartIn(t, root), first.Name, first.Spec.Cluster)
	if _, err := w.createConfigMap(t, markerName); !apierrors.IsInvalid(err) {
		t.Errorf("the first request after the restart: %v", err)
	}
	after, err := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "policy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.ResourceVersion != before.ResourceVersion {
		t.Error("the restart has written to a policy that has been type-checked")
	}
}

// gone: a workspace that is deleted with its policies leaves nothing of them behind.
func gone(t *testing.T, w *workspace) {
	name := strings.TrimPrefix(w.path, "root:")
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "false"}), binding("policy"))
	w.inForce(t)
	parent, err := dynamic.NewForConfig(w.server.In(t, "base", "root"))
	if err != nil {
		t.Fatal(err)
	}
	workspaces := parent.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	if err := workspaces.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the workspace is gone", func() (bool, any) {
		_, err := workspaces.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	// Another one of the same name is another cluster, without policies.
	again := w.server.Workspace(t, "root", name)
	if _, err := open(t, w.server, name, again.Spec.Cluster).createConfigMap(t, "a"); err != nil {
		t.Error(err)
	}
}

// prompt: what has been acknowledged is in force within a moment. It is the median that
// counts, for machines that are busy; upstream's sources look once a second.
func prompt(t *testing.T, w *workspace) {
	const rounds = 5
	var took []time.Duration
	for i := range rounds {
		name := "policy-" + strconv.Itoa(i)
		w.create(t, validating(name, admissionregistrationv1.Validation{Expression: "false", Message: name}), binding(name))
		since := time.Now()
		w.inForce(t)
		took = append(took, time.Since(since))
		if err := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		since = time.Now()
		w.eventuallyAllowed(t)
		took = append(took, time.Since(since))
	}
	slices.Sort(took)
	t.Logf("in force, or not any more, after %s in the median, %s at most", took[rounds], took[2*rounds-1])
	if took[rounds] > time.Second {
		t.Errorf("it took %s until a policy was in force, or not any more", took[rounds])
	}
}

// TestGoroutines: however many workspaces have policies, nothing runs for them between
// requests.
func TestGoroutines(t *testing.T) {
	// Not at the same time as others: it looks at all there is in the process.
	server := servertest.Start(t)
	for range 5 {
		w := newWorkspace(t, server)
		policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "Secret"}, "params.metadata.generation", admissionregistrationv1.ParamRef{Name: "a"})
		w.create(t, applying("policy", `Object{data: {"painted": "red"}}`), mutatingBinding("policy"), policy, bound)
		w.inForce(t)
	}
	servertest.Eventually(t, "no goroutine is in admission", func() (bool, any) {
		stacks := make([]byte, 8<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
			if bytes.Contains(stack, []byte("/admission")) && !bytes.Contains(stack, []byte("TestGoroutines")) {
				return false, string(stack)
			}
		}
		return true, nil
	})
}
