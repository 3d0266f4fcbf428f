package apibinding

import (
	"slices"
	"testing"

	"github.com/forkless/kcp/internal/controller"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func bindingTo(path, export string, uids ...string) *apisv1alpha2.APIBinding {
	b := &apisv1alpha2.APIBinding{}
	b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: path, Name: export}
	for _, uid := range uids {
		b.Status.BoundResources = append(b.Status.BoundResources, apisv1alpha2.BoundAPIResource{Schema: apisv1alpha2.BoundAPIResourceSchema{UID: uid}})
	}
	return b
}

func TestIndex(t *testing.T) {
	x := newIndex()
	one, two := logicalcluster.MustParseName("one1"), logicalcluster.MustParseName("two2")
	a, b := controller.Key{Cluster: one, Name: "a"}, controller.Key{Cluster: two, Name: "b"}
	x.set(a, bindingTo("", "wild"))
	x.set(b, bindingTo("root:org", "wild"))
	if got := x.referringTo("one1", "wild"); !slices.Equal(got, []controller.Key{a}) {
		t.Errorf("without a path it is the own workspace, got %v", got)
	}
	if got := x.referringTo("root:org", "wild"); !slices.Equal(got, []controller.Key{b}) {
		t.Errorf("by path, got %v", got)
	}
	if unused := x.set(a, bindingTo("", "wild", "1", "2")); len(unused) > 0 || !x.used("1") || x.used("3") {
		t.Errorf("what is bound is used, got %v as unused", unused)
	}
	x.set(b, bindingTo("root:org", "wild", "2"))
	if unused := x.set(a, bindingTo("", "wild", "2", "3")); !slices.Equal(unused, []string{"1"}) {
		t.Errorf("what nobody has bound any more is 1, got %v", unused)
	}
	if got := x.using("3"); !slices.Equal(got, []controller.Key{a}) {
		t.Errorf("who has bound 3, got %v", got)
	}
	x.wait(a, true)
	if got := x.waitingIn(one); !slices.Equal(got, []controller.Key{a}) || len(x.waitingIn(two)) > 0 {
		t.Errorf("who waits, got %v", got)
	}
	if unused := x.remove(a); !slices.Equal(unused, []string{"3"}) {
		t.Errorf("what only the removed one had bound is 3, got %v", unused)
	}
	x.remove(b)
	x.remove(b)
	if len(x.bindings)+len(x.refer)+len(x.uses)+len(x.waiting) > 0 {
		t.Errorf("something is remembered of what is gone: %+v", x)
	}
}
