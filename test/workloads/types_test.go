package workloads

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// TestTypes takes the types through what they do by themselves.
func TestTypes(t *testing.T) {
	server := servertest.Start(t, battery)
	client := workspace(t, server, "types")
	for name, test := range map[string]func(*testing.T, kubernetes.Interface){
		"Deployment":    deployment,
		"Eviction":      eviction,
		"Binding":       binding,
		"Autoscaler":    autoscaler,
		"FieldSelector": fieldSelector,
		"Namespace":     namespace,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
}

// TestOff is about a server that was not asked for the types.
func TestOff(t *testing.T) {
	server := servertest.Start(t)
	client := workspace(t, server, "off")
	if _, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("pods are served: %v", err)
	}
	groups := must[*metav1.APIGroupList](t)(client.Discovery().ServerGroups())
	if slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == "apps" }) {
		t.Error("a group is announced that is not served")
	}
}

func deployment(t *testing.T, client kubernetes.Interface) {
	labels := map[string]string{"app": "deployed"}
	deployments := client.AppsV1().Deployments("default")
	wanted := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "deployed"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("", nil).Spec},
		},
	}
	invalid := wanted.DeepCopy()
	invalid.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
	if _, err := deployments.Create(t.Context(), invalid, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a deployment that does not select its own pods: %v", err)
	}
	got := must[*appsv1.Deployment](t)(deployments.Create(t.Context(), wanted, metav1.CreateOptions{}))
	if got.Spec.Replicas == nil || *got.Spec.Replicas != 1 || got.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		t.Errorf("there are no defaults: %+v", got.Spec)
	}
	scale := must[*autoscalingv1.Scale](t)(deployments.GetScale(t.Context(), "deployed", metav1.GetOptions{}))
	scale.Spec.Replicas = 7
	must[*autoscalingv1.Scale](t)(deployments.UpdateScale(t.Context(), "deployed", scale, metav1.UpdateOptions{}))
	got = must[*appsv1.Deployment](t)(deployments.Get(t.Context(), "deployed", metav1.GetOptions{}))
	if *got.Spec.Replicas != 7 || got.Generation != 2 {
		t.Errorf("scaled to %d, in generation %d", *got.Spec.Replicas, got.Generation)
	}
	got.Status.Replicas, got.Spec.Replicas = 3, ptr.To[int32](9)
	got = must[*appsv1.Deployment](t)(deployments.UpdateStatus(t.Context(), got, metav1.UpdateOptions{}))
	if got.Status.Replicas != 3 || *got.Spec.Replicas != 7 {
		t.Errorf("a status that was written has left %d replicas of %d", got.Status.Replicas, *got.Spec.Replicas)
	}
}

// eviction: a budget is asked, and what an eviction costs is written to it.
func eviction(t *testing.T, client kubernetes.Interface) {
	pods, budgets := client.CoreV1().Pods("default"), client.PolicyV1().PodDisruptionBudgets("default")
	labels := map[string]string{"app": "evicted"}
	budget := must[*policyv1.PodDisruptionBudget](t)(budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "evicted"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, MinAvailable: ptr.To(intstr.FromInt32(1))},
	}, metav1.CreateOptions{}))
	for _, name := range []string{"evicted-1", "evicted-2"} {
		created := must[*corev1.Pod](t)(pods.Create(t.Context(), pod(name, labels), metav1.CreateOptions{}))
		created.Status.Phase = corev1.PodRunning
		created.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		must[*corev1.Pod](t)(pods.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}))
	}
	evict := func(name string) error {
		return pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}})
	}
	// Before anybody has looked at the budget, clients are told to come again, and do.
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 2}
	budget = must[*policyv1.PodDisruptionBudget](t)(budgets.UpdateStatus(t.Context(), budget, metav1.UpdateOptions{}))
	if err := evict("evicted-1"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the budget allows none: %v", err)
	}
	budget.Status.DisruptionsAllowed, budget.Status.CurrentHealthy = 1, 2
	must[*policyv1.PodDisruptionBudget](t)(budgets.UpdateStatus(t.Context(), budget, metav1.UpdateOptions{}))
	if err := evict("evicted-1"); err != nil {
		t.Errorf("the budget allows one: %v", err)
	}
	if _, err := pods.Get(t.Context(), "evicted-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that was evicted: %v", err)
	}
	budget = must[*policyv1.PodDisruptionBudget](t)(budgets.Get(t.Context(), "evicted", metav1.GetOptions{}))
	if _, told := budget.Status.DisruptedPods["evicted-1"]; !told || budget.Status.DisruptionsAllowed != 0 {
		t.Errorf("the budget does not know what it has cost: %+v", budget.Status)
	}
	if err := evict("evicted-2"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the budget is used up: %v", err)
	}
}

func binding(t *testing.T, client kubernetes.Interface) {
	pods := client.CoreV1().Pods("default")
	must[*corev1.Pod](t)(pods.Create(t.Context(), pod("bound", nil), metav1.CreateOptions{}))
	err := pods.Bind(t.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "bound"}, Target: corev1.ObjectReference{Kind: "Node", Name: "here"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := must[*corev1.Pod](t)(pods.Get(t.Context(), "bound", metav1.GetOptions{})); got.Spec.NodeName != "here" {
		t.Errorf("bound to %q", got.Spec.NodeName)
	}
}

// autoscaler: what is written in one version reads the same in the other.
func autoscaler(t *testing.T, client kubernetes.Interface) {
	created := must[*autoscalingv1.HorizontalPodAutoscaler](t)(client.AutoscalingV1().HorizontalPodAutoscalers("default").Create(t.Context(),
		&autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "scaled"},
			Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef:                 autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "any"},
				MaxReplicas:                    5,
				TargetCPUUtilizationPercentage: ptr.To[int32](60),
			},
		}, metav1.CreateOptions{}))
	got := must[*autoscalingv2.HorizontalPodAutoscaler](t)(client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(t.Context(), "scaled", metav1.GetOptions{}))
	if got.UID != created.UID || len(got.Spec.Metrics) != 1 || *got.Spec.Metrics[0].Resource.Target.AverageUtilization != 60 {
		t.Errorf("in v2: %+v", got.Spec)
	}
}

func fieldSelector(t *testing.T, client kubernetes.Interface) {
	pods := client.CoreV1().Pods("default")
	for name, node := range map[string]string{"selected": "there", "unselected": "elsewhere"} {
		wanted := pod(name, nil)
		wanted.Spec.NodeName = node
		must[*corev1.Pod](t)(pods.Create(t.Context(), wanted, metav1.CreateOptions{}))
	}
	list := must[*corev1.PodList](t)(client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=there"}))
	if len(list.Items) != 1 || list.Items[0].Name != "selected" {
		t.Errorf("selected by node: %v", list.Items)
	}
}

// namespace: what is in a namespace goes with it.
func namespace(t *testing.T, client kubernetes.Interface) {
	must[*corev1.Namespace](t)(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "emptied"}}, metav1.CreateOptions{}))
	must[*corev1.Pod](t)(client.CoreV1().Pods("emptied").Create(t.Context(), pod("gone", nil), metav1.CreateOptions{}))
	must[*corev1.Service](t)(client.CoreV1().Services("emptied").Create(t.Context(), service("gone", corev1.ServiceTypeClusterIP), metav1.CreateOptions{}))
	if err := client.CoreV1().Namespaces().Delete(t.Context(), "emptied", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the namespace is gone", func() (bool, any) {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "emptied", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}
