package apiexportendpointslice

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// stored are bindings in memory, which counts how often all of them are read.
type stored struct {
	bindings []apisv1alpha2.APIBinding
	lists    int
}

func (s *stored) Binding(_ context.Context, _ logicalcluster.Name, name string) (*apisv1alpha2.APIBinding, error) {
	for i := range s.bindings {
		if s.bindings[i].Name == name {
			return &s.bindings[i], nil
		}
	}
	return nil, apierrors.NewNotFound(cached.APIBindings.GroupResource, name)
}

func (s *stored) Bindings(context.Context, logicalcluster.Name) ([]apisv1alpha2.APIBinding, error) {
	s.lists++
	return s.bindings, nil
}

func binding(name, path string) apisv1alpha2.APIBinding {
	b := apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: home.String()},
	}}
	b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: path, Name: "widgets"}
	return b
}

func TestWitnesses(t *testing.T) {
	here, there := reference{"home", "widgets"}, reference{"root:there", "widgets"}
	s := &stored{bindings: []apisv1alpha2.APIBinding{binding("one", "")}}
	w := &witnesses{bindings: s}
	expect := func(reason string, ref reference, want bool) {
		t.Helper()
		if got, err := w.refersTo(t.Context(), ref); got != want || err != nil {
			t.Errorf("%s: got %t, %v", reason, got, err)
		}
	}
	expect("what was there at the start is known before it is heard of", here, true)
	expect("nobody refers to another export", there, false)

	if _, matters := w.heard(&s.bindings[0]); !matters {
		t.Error("what happens to the witness matters")
	}
	s.bindings = append(s.bindings, binding("two", "home"), binding("three", "root:there"))
	if _, matters := w.heard(&s.bindings[1]); matters {
		t.Error("a second binding does not matter")
	}
	if ref, matters := w.heard(&s.bindings[2]); !matters || ref != there {
		t.Error("the first that refers to an export does")
	}
	expect("a first binding has come", there, true)

	gone := s.bindings[0]
	s.bindings = s.bindings[1:]
	w.heard(&gone)
	expect("another one refers to the export as well, by the name of its cluster", here, true)
	s.bindings = s.bindings[1:]
	expect("the last one is gone", here, false)
	w.heard(&gone)
	expect("news of a binding that is gone is no binding", here, false)
	if got := len(w.references()); got != 1 {
		t.Errorf("%d references are remembered, want the one that there is", got)
	}
	if s.lists != 1 {
		t.Errorf("all bindings were read %d times: where there are few, those that go are known", s.lists)
	}
}

func TestManyBindingsGoOneByOne(t *testing.T) {
	const many = 2000
	s := &stored{}
	w := &witnesses{bindings: s}
	for i := range many {
		s.bindings = append(s.bindings, binding(fmt.Sprint(i), ""))
		w.heard(&s.bindings[i])
	}
	for range many {
		gone := s.bindings[0]
		s.bindings = s.bindings[1:]
		if ref, matters := w.heard(&gone); matters {
			if bound, err := w.refersTo(t.Context(), ref); err != nil || bound != (len(s.bindings) > 0) {
				t.Fatalf("with %d left: %t, %v", len(s.bindings), bound, err)
			}
		}
	}
	// About three times; 20 would be a wonder.
	if s.lists < 1 || s.lists > 20 {
		t.Errorf("all bindings were read %d times", s.lists)
	}
}

func TestInterests(t *testing.T) {
	i := newInterests()
	slice, other := controller.Key{Cluster: home, Name: "slice"}, controller.Key{Cluster: home, Name: "other"}
	export, partition := reference{"root:there", "widgets"}, controller.Key{Cluster: home, Name: "north"}
	expect := func(reason string, exports, partitions, all int) {
		t.Helper()
		if len(i.inExport(export)) != exports || len(i.inPartition(partition)) != partitions || len(i.all()) != all {
			t.Errorf("%s: got %v, %v, %v", reason, i.inExport(export), i.inPartition(partition), i.all())
		}
	}
	i.set(slice, interest{})
	expect("a slice that is just the one of its export is not remembered", 0, 0, 0)
	i.set(slice, interest{export: export, partition: partition})
	i.set(other, interest{export: export})
	expect("others are", 2, 1, 2)
	i.set(slice, interest{export: export})
	expect("a partition may be dropped", 2, 0, 2)
	i.set(slice, interest{})
	i.set(other, interest{})
	expect("what is gone is forgotten", 0, 0, 0)
	if len(i.exports)+len(i.partitions) != 0 {
		t.Error("something is left behind")
	}
}
