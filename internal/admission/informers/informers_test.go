package informers_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var here, there = logicalcluster.MustParseName("here"), logicalcluster.MustParseName("there")

func in(place logicalcluster.Name, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: "1", Annotations: map[string]string{logicalcluster.AnnotationKey: place.String()}}
}

// oneNamespace reads namespaces: one is in storage, and in memory a moment later.
type oneNamespace struct{ cached bool }

// Get answers as the watch cache would.
func (n *oneNamespace) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	if !n.cached {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return n.GetCurrent(ctx, cluster, name)
}

// GetCurrent answers as storage would.
func (n *oneNamespace) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cluster != here || name != "a" {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c"}}}, nil
}

// kinds are those that there are informers for: how each is stored, and read.
var kinds = []struct {
	resource  storage.Resource
	stored    func(metav1.ObjectMeta) runtime.Object
	informer  func(clientinformers.SharedInformerFactory) cache.SharedIndexInformer
	versioned runtime.Object
}{
	{
		configurations.MutatingWebhooks,
		func(m metav1.ObjectMeta) runtime.Object {
			return &admissionregistration.MutatingWebhookConfiguration{ObjectMeta: m}
		},
		func(f clientinformers.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Admissionregistration().V1().MutatingWebhookConfigurations().Informer()
		},
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: in(here, "a")},
	},
	{
		configurations.ValidatingWebhooks,
		func(m metav1.ObjectMeta) runtime.Object {
			return &admissionregistration.ValidatingWebhookConfiguration{ObjectMeta: m}
		},
		func(f clientinformers.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer()
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: in(here, "a")},
	},
}

func TestInformers(t *testing.T) {
	for _, tc := range kinds {
		t.Run(tc.resource.Resource, func(t *testing.T) {
			index := admissiontest.NoConfigurations()
			defer index.Close()
			told := index.Listener()
			told.Changed(tc.resource, tc.stored(in(here, "a")))
			told.Changed(tc.resource, tc.stored(in(there, "other")))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			informer := tc.informer(informers.Sources{Index: index}.Factory(ctx, here))

			got := informer.GetStore().List()
			if diff := cmp.Diff([]any{tc.versioned}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			one, exists, err := informer.GetIndexer().GetByKey("a")
			if diff := cmp.Diff(any(tc.versioned), one); diff != "" || !exists || err != nil {
				t.Errorf("got %t, %v (-want +got):\n%s", exists, err, diff)
			}
			if _, exists, err := informer.GetIndexer().GetByKey("other"); exists || err != nil {
				t.Errorf("what is in another cluster does not exist, got %t, %v", exists, err)
			}

			var heard []string
			hear := func(what string, obj any) { heard = append(heard, what+" "+obj.(metav1.Object).GetName()) }
			handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { hear("add", obj) },
				UpdateFunc: func(_, obj any) { hear("update", obj) },
				DeleteFunc: func(obj any) { hear("delete", obj) },
			})
			if err != nil || !handle.HasSynced() || !informer.HasSynced() {
				t.Fatal(err)
			}
			told.Changed(tc.resource, tc.stored(in(here, "b")))
			told.Changed(tc.resource, tc.stored(in(there, "other")))
			told.Changed(tc.resource, tc.stored(in(here, "a")))
			told.Gone(tc.resource, tc.stored(in(here, "b")))
			if err := informer.RemoveEventHandler(handle); err != nil {
				t.Fatal(err)
			}
			told.Gone(tc.resource, tc.stored(in(here, "a")))
			if want := []string{"add a", "add b", "update a", "delete b"}; !slices.Equal(heard, want) {
				t.Errorf("heard %v, want %v", heard, want)
			}
			cancel()
			handle, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
			if err != nil || !handle.HasSynced() || !informer.IsStopped() {
				t.Errorf("upstream relies on the handle, whether the cluster still needs it or not, got %v, %v", handle, err)
			}
		})
	}
}

func TestListers(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	stored := &admissionregistration.ValidatingWebhookConfiguration{ObjectMeta: in(here, "a")}
	stored.Labels = map[string]string{"a": "b"}
	index.Listener().Changed(configurations.ValidatingWebhooks, stored)
	lister := informers.Sources{Index: index}.Factory(t.Context(), here).Admissionregistration().V1().ValidatingWebhookConfigurations().Lister()
	if got, err := lister.Get("a"); err != nil || got.Name != "a" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := lister.Get("b"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if got, err := lister.List(labels.SelectorFromSet(labels.Set{"a": "b"})); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := lister.List(labels.SelectorFromSet(labels.Set{"a": "c"})); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNamespaces(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	namespaces := &oneNamespace{}
	sources := informers.Sources{Index: index, Namespaces: namespaces}
	ctx, cancel := context.WithCancel(t.Context())
	informer := sources.Factory(ctx, here).Core().V1().Namespaces()
	if !informer.Informer().HasSynced() {
		t.Error("namespaces can be read")
	}
	if _, err := informer.Lister().Get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if got, err := sources.Client(here).CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{}); err != nil || got.Labels["b"] != "c" {
		t.Errorf("the client reads from storage, got %v, %v", got, err)
	}
	if _, err := sources.Client(there).CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the client of another cluster: %v", err)
	}
	namespaces.cached = true
	cancel()
	if got, err := informer.Lister().Get("a"); err != nil || got.Labels["b"] != "c" {
		t.Errorf("a request that is under way when the configurations go is answered, got %v, %v", got, err)
	}
}

// TestNothingElse: whatever else somebody asks for is refused and named, rather than
// answered as if there were none.
func TestNothingElse(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	sources := informers.Sources{Index: index, Namespaces: &oneNamespace{}}
	client, factory := sources.Client(here), sources.Factory(t.Context(), here)
	refusals := map[string]func() error{
		"secrets": func() error {
			_, err := client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			return err
		},
		"deployments": func() error {
			_, err := client.AppsV1().Deployments("default").Get(t.Context(), "a", metav1.GetOptions{})
			return err
		},
		"namespaces": func() error {
			_, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			return err
		},
		"configmaps": func() error {
			_, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
			return err
		},
		"changes in namespaces": func() error {
			_, err := factory.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
			return err
		},
		"list namespaces": func() error {
			_, err := factory.Core().V1().Namespaces().Lister().List(labels.Everything())
			return err
		},
	}
	for name, ask := range refusals {
		if err := ask(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
