package validating_test

import (
	"runtime"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/policies/validating"
	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// BenchmarkWorkspace measures what a workspace with one policy in force takes beside the
// objects in the watch cache: memory, and the time its first request has to wait.
func BenchmarkWorkspace(b *testing.B) {
	for name, expression := range map[string]func(int) string{
		"EqualPolicies":     func(int) string { return "object.data.replicas == '1'" },
		"DifferentPolicies": func(i int) string { return "object.data.replicas == '" + strconv.Itoa(i) + "'" },
	} {
		b.Run(name, func(b *testing.B) { measure(b, expression) })
	}
}

func measure(b *testing.B, expression func(int) string) {
	const workspaces = 300
	a := admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap",
		Operation: admission.Create, Namespace: "default", Object: &corev1.ConfigMap{},
	}.Attributes()
	bytes, n := 0.0, 0
	for b.Loop() {
		index := admissiontest.NoConfigurations()
		source := validating.NewSource(index)
		for i := range workspaces {
			meta := metav1.ObjectMeta{Name: "policy", Annotations: map[string]string{logicalcluster.AnnotationKey: "c" + strconv.Itoa(i)}}
			index.Listener().Changed(configurations.ValidatingPolicies, &admissionregistration.ValidatingAdmissionPolicy{
				ObjectMeta: meta,
				Spec: admissionregistration.ValidatingAdmissionPolicySpec{
					Validations: []admissionregistration.Validation{{Expression: expression(i)}},
				},
			})
			index.Listener().Changed(configurations.ValidatingPolicyBindings, &admissionregistration.ValidatingAdmissionPolicyBinding{
				ObjectMeta: meta, Spec: admissionregistration.ValidatingAdmissionPolicyBindingSpec{PolicyName: "policy"},
			})
		}
		before := heap.InUse()
		for i := range workspaces {
			ctx := logicalcluster.NewContext(b.Context(), logicalcluster.MustParseName("c"+strconv.Itoa(i)))
			if hooks, _, err := source.For(ctx, a); err != nil || len(hooks) != 1 {
				b.Fatal(err, hooks)
			}
		}
		bytes += float64(heap.InUse() - before)
		n += workspaces
		runtime.KeepAlive(source)
		index.Close()
	}
	b.ReportMetric(bytes/float64(n), "B/workspace")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/workspace")
}
