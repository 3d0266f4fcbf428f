package view

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// A watch has goroutines of its own, in which a panic would end the process.
func TestWatchSurvivesConverters(t *testing.T) {
	stored := watch.NewFakeWithChanSize(1, false)
	w := newWatch(stored, &Form{
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"},
		Convert: func([]*unstructured.Unstructured, schema.GroupVersion) ([]*unstructured.Unstructured, error) {
			panic("an answer nobody has thought of")
		},
	}, nil)
	defer w.Stop()
	stored.Add(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}})
	select {
	case event := <-w.ResultChan():
		if err := apierrors.FromObject(event.Object); event.Type != watch.Error || !strings.Contains(err.Error(), "nobody has thought of") {
			t.Errorf("got %s %v", event.Type, event.Object)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing is told")
	}
}
