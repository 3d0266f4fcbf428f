package workloads

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// TestAdmission is about what other objects of a workspace do to new ones. Classes reach
// admission through watch caches, so tests wait for them to have an effect.
func TestAdmission(t *testing.T) {
	server := servertest.Start(t, battery)
	client, other := workspace(t, server, "admission"), workspace(t, server, "other")
	for name, test := range map[string]func(t *testing.T, client, other kubernetes.Interface){
		"Priority":     priorityClass,
		"Limits":       limits,
		"Tolerations":  tolerations,
		"StorageClass": storageClass,
		"IngressClass": ingressClass,
		"PodSecurity":  podSecurity,
	} {
		t.Run(name, func(t *testing.T) { test(t, client, other) })
	}
}

func priorityClass(t *testing.T, client, other kubernetes.Interface) {
	must[*schedulingv1.PriorityClass](t)(client.SchedulingV1().PriorityClasses().Create(t.Context(),
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000}, metav1.CreateOptions{}))
	wanted := pod("urgent", nil)
	wanted.Spec.PriorityClassName = "urgent"
	servertest.Eventually(t, "the class has an effect", func() (bool, any) {
		got, err := client.CoreV1().Pods("default").Create(t.Context(), wanted, metav1.CreateOptions{})
		return err == nil && *got.Spec.Priority == 1000, err
	})
	if _, err := other.CoreV1().Pods("default").Create(t.Context(), wanted, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "no PriorityClass") {
		t.Errorf("the class of one workspace is known in another: %v", err)
	}
}

func limits(t *testing.T, client, _ kubernetes.Interface) {
	must[*corev1.Namespace](t)(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "limited"}}, metav1.CreateOptions{}))
	memory := func(text string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}
	}
	must[*corev1.LimitRange](t)(client.CoreV1().LimitRanges("limited").Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: memory("1Gi"), Default: memory("512Mi"), DefaultRequest: memory("256Mi"),
		}}},
	}, metav1.CreateOptions{}))
	pods := client.CoreV1().Pods("limited")
	servertest.Eventually(t, "the defaults have an effect", func() (bool, any) {
		got, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"}, Spec: pod("", nil).Spec}, metav1.CreateOptions{})
		return err == nil && got.Spec.Containers[0].Resources.Requests.Memory().String() == "256Mi", err
	})
	greedy := pod("greedy", nil)
	greedy.Spec.Containers[0].Resources.Limits = memory("2Gi")
	if _, err := pods.Create(t.Context(), greedy, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "maximum memory usage") {
		t.Errorf("a pod above the limit: %v", err)
	}
}

func podSecurity(t *testing.T, client, other kubernetes.Interface) {
	privileged := func(name string) *corev1.Pod {
		p := pod(name, nil)
		p.Spec.HostNetwork = true
		return p
	}
	for _, c := range []kubernetes.Interface{client, other} {
		must[*corev1.Namespace](t)(c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "secure"}}, metav1.CreateOptions{}))
		must[*corev1.Pod](t)(c.CoreV1().Pods("secure").Create(t.Context(), privileged("before"), metav1.CreateOptions{}))
	}
	_, err := client.CoreV1().Namespaces().Patch(t.Context(), "secure", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the label has an effect", func() (bool, any) {
		dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		_, err := client.CoreV1().Pods("secure").Create(t.Context(), privileged("after"), dryRun)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), `violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)`), err
	})
	if _, err := other.CoreV1().Pods("secure").Create(t.Context(), privileged("after"), metav1.CreateOptions{}); err != nil {
		t.Errorf("the label of one workspace has an effect in another: %v", err)
	}
	_, err = client.CoreV1().Namespaces().Patch(t.Context(), "secure", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"nonsense"}}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a level that does not exist: %v", err)
	}
}

func tolerations(t *testing.T, client, _ kubernetes.Interface) {
	got := must[*corev1.Pod](t)(client.CoreV1().Pods("default").Create(t.Context(), pod("tolerant", nil), metav1.CreateOptions{}))
	if len(got.Spec.Tolerations) != 2 {
		t.Errorf("a pod has the tolerations %v", got.Spec.Tolerations)
	}
}

func storageClass(t *testing.T, client, _ kubernetes.Interface) {
	must[*storagev1.StorageClass](t)(client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "usual", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "example.org/none",
	}, metav1.CreateOptions{}))
	servertest.Eventually(t, "the default class has an effect", func() (bool, any) {
		got, err := client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "claim-"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}, metav1.CreateOptions{})
		if err == nil && len(got.Finalizers) > 0 {
			t.Fatalf("finalizers that nobody takes away: %v", got.Finalizers)
		}
		return err == nil && got.Spec.StorageClassName != nil && *got.Spec.StorageClassName == "usual", err
	})
}

func ingressClass(t *testing.T, client, _ kubernetes.Interface) {
	must[*networkingv1.IngressClass](t)(client.NetworkingV1().IngressClasses().Create(t.Context(), &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "usual", Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}},
		Spec:       networkingv1.IngressClassSpec{Controller: "example.org/none"},
	}, metav1.CreateOptions{}))
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	servertest.Eventually(t, "the default class has an effect", func() (bool, any) {
		got, err := client.NetworkingV1().Ingresses("default").Create(t.Context(), &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "in-"}, Spec: networkingv1.IngressSpec{DefaultBackend: backend},
		}, metav1.CreateOptions{})
		return err == nil && got.Spec.IngressClassName != nil && *got.Spec.IngressClassName == "usual", err
	})
}
