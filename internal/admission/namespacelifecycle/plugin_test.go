package namespacelifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// namespaces is what memory and storage know of the namespaces of one cluster.
type namespaces struct {
	cluster        logicalcluster.Name
	memory, latest map[string]corev1.NamespacePhase
	fails          error
}

func (n namespaces) Phase(_ context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error) {
	return n.read(n.memory, cluster, name)
}

func (n namespaces) LatestPhase(_ context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error) {
	return n.read(n.latest, cluster, name)
}

func (n namespaces) read(from map[string]corev1.NamespacePhase, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error) {
	phase, ok := from[name]
	switch {
	case n.fails != nil:
		return "", n.fails
	case !ok || cluster != n.cluster:
		return "", apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return phase, nil
}

func requestTo(operation admission.Operation, namespace string) admissiontest.Request {
	return admissiontest.Request{
		Resource:  corev1.SchemeGroupVersion.WithResource("configmaps"),
		Kind:      "ConfigMap",
		Operation: operation,
		Namespace: namespace,
		Name:      "c",
	}
}

func deletion(namespace string) admissiontest.Request {
	return admissiontest.Request{
		Resource:  corev1.SchemeGroupVersion.WithResource("namespaces"),
		Kind:      "Namespace",
		Operation: admission.Delete,
		Namespace: namespace,
		Name:      namespace,
		User:      admissiontest.Masters(),
	}
}

func TestContent(t *testing.T) {
	reader := namespaces{
		cluster: logicalcluster.Root,
		memory: map[string]corev1.NamespacePhase{
			"live": corev1.NamespaceActive, "dying": corev1.NamespaceTerminating,
		},
		latest: map[string]corev1.NamespacePhase{
			"live": corev1.NamespaceActive, "dying": corev1.NamespaceTerminating, "new": corev1.NamespaceActive,
		},
	}
	other := logicalcluster.MustParseName("other-cluster")
	review := requestTo(admission.Create, "missing")
	review.Resource.Group, review.Resource.Resource = "authorization.k8s.io", "localsubjectaccessreviews"

	cases := map[string]struct {
		reason  string
		cluster logicalcluster.Name
		request admissiontest.Request
		want    string
	}{
		"Live":          {reason: "a living namespace takes anything", request: requestTo(admission.Create, "live")},
		"New":           {reason: "one that memory does not know yet does too", request: requestTo(admission.Create, "new")},
		"Missing":       {reason: "a missing one nothing", request: requestTo(admission.Create, "missing"), want: `namespaces "missing" not found`},
		"MissingUpdate": {reason: "changes included", request: requestTo(admission.Update, "missing"), want: `namespaces "missing" not found`},
		"Elsewhere":     {reason: "one in another cluster is missing here", cluster: other, request: requestTo(admission.Create, "live"), want: `namespaces "live" not found`},
		"Dying": {
			reason: "nothing new in one that goes", request: requestTo(admission.Create, "dying"),
			want: `configmaps "c" is forbidden: unable to create new content in namespace dying because it is being terminated`,
		},
		"DyingUpdate":   {reason: "finalizers must be removable", request: requestTo(admission.Update, "dying")},
		"DyingDelete":   {reason: "and objects", request: requestTo(admission.Delete, "dying")},
		"MissingDelete": {reason: "wherever they are", request: requestTo(admission.Delete, "missing")},
		"ClusterScoped": {reason: "what has no namespace", request: requestTo(admission.Create, "")},
		"Review":        {reason: "a review must not tell which namespaces there are", request: review},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := logicalcluster.Root
			if !c.cluster.Empty() {
				cluster = c.cluster
			}
			err := New(reader, tenancytest.New(t).Clusters()).Admit(admissiontest.In(t, cluster), c.request.Attributes(), nil)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}

	err := New(reader, tenancytest.New(t).Clusters()).Admit(admissiontest.In(t, logicalcluster.Root), requestTo(admission.Create, "dying").Attributes(), nil)
	if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("clients look for the cause, got %v", err)
	}
	reader.fails = errors.New("broken")
	err = New(reader, tenancytest.New(t).Clusters()).Admit(admissiontest.In(t, logicalcluster.Root), requestTo(admission.Create, "live").Attributes(), nil)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("what cannot be found out may be tried again, got %v", err)
	}
}

func TestImmortal(t *testing.T) {
	now := metav1.Now()
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddCluster("root:dying", "root:organization").DeletionTimestamp = &now
	plugin := New(namespaces{}, tree.Clusters())
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		r := deletion(name)
		alive := plugin.Admit(admissiontest.In(t, tenancytest.ClusterAt("root:org")), r.Attributes(), nil)
		admissiontest.Check(t, "they live as long as their workspace", alive, "this namespace may not be deleted")
		none := plugin.Admit(admissiontest.In(t, logicalcluster.SystemAdmin), r.Attributes(), nil)
		admissiontest.Check(t, "system clusters live for ever", none, "this namespace may not be deleted")
		dying := plugin.Admit(admissiontest.In(t, tenancytest.ClusterAt("root:dying")), r.Attributes(), nil)
		admissiontest.Check(t, "and no longer", dying, "")
	}
	other := plugin.Admit(admissiontest.In(t, tenancytest.ClusterAt("root:org")), deletion("other").Attributes(), nil)
	admissiontest.Check(t, "others can be deleted", other, "")
}

func TestJustDeleted(t *testing.T) {
	reader := namespaces{
		cluster: logicalcluster.Root,
		memory:  map[string]corev1.NamespacePhase{"n": corev1.NamespaceActive},
		latest:  map[string]corev1.NamespacePhase{"n": corev1.NamespaceTerminating},
	}
	clock := testingclock.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	plugin := newWithClock(reader, tenancytest.New(t).Clusters(), clock)
	ctx := admissiontest.In(t, logicalcluster.Root)
	create := requestTo(admission.Create, "n")

	other := admissiontest.In(t, logicalcluster.MustParseName("other-cluster"))
	admissiontest.Check(t, "a namespace can be deleted", plugin.Admit(other, deletion("n").Attributes(), nil), "")
	admissiontest.Check(t, "one of that name in another cluster does not matter", plugin.Admit(ctx, create.Attributes(), nil), "")

	admissiontest.Check(t, "a namespace can be deleted", plugin.Admit(ctx, deletion("n").Attributes(), nil), "")
	admissiontest.Check(t, "memory is behind just after", plugin.Admit(ctx, create.Attributes(), nil), "being terminated")

	clock.Step(distrustFor + time.Second)
	admissiontest.Check(t, "and is believed again later", plugin.Admit(ctx, create.Attributes(), nil), "")
}
