package apibinding

import (
	"context"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// shelf holds bound definitions.
type shelf map[string]*apiextensionsv1.CustomResourceDefinition

func (s shelf) Get(_ context.Context, _ logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	if crd, ok := s[name]; ok {
		return crd, nil
	}
	return nil, apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), name)
}

func (s shelf) Delete(_ context.Context, _ logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	delete(s, crd.Name)
	return nil
}

func TestCollect(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	user := controller.Key{Cluster: logicalcluster.MustParseName("one1"), Name: "mine"}
	for name, tc := range map[string]struct {
		reason       string
		age          time.Duration
		used         bool
		unsynced     bool
		stays, again bool
	}{
		"Used":     {reason: "a binding refers to it", age: time.Hour, used: true, stays: true},
		"Young":    {reason: "somebody may be about to refer to it", age: 29 * time.Minute, stays: true, again: true},
		"Old":      {reason: "nothing refers to it", age: 30 * time.Minute},
		"Starting": {reason: "not all bindings are known", age: time.Hour, unsynced: true, stays: true, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			all := shelf{"uid": {ObjectMeta: metav1.ObjectMeta{Name: "uid", CreationTimestamp: metav1.NewTime(began)}}}
			synced := make(chan struct{})
			if !tc.unsynced {
				close(synced)
			}
			c := &collector{
				definitions: all, index: newIndex(), synced: synced, clock: clocktesting.NewFakePassiveClock(began.Add(tc.age)),
				enqueue: func(controller.Key) {},
			}
			if tc.used {
				c.index.set(user, bindingTo("", "wild", "uid"))
			}
			err := c.collect(t.Context(), controller.Key{Cluster: logicalcluster.BoundCRDs, Name: "uid"})
			if stays := len(all) > 0; stays != tc.stays || (err != nil) != tc.again {
				t.Errorf("%s: stays %v, comes again: %v", tc.reason, stays, err)
			}
		})
	}
}

// TestCollectedByMistake: bindings to a definition that is missing are looked at.
func TestCollectedByMistake(t *testing.T) {
	var queue []controller.Key
	c := &collector{definitions: shelf{}, index: newIndex(), enqueue: func(key controller.Key) { queue = append(queue, key) }}
	user := controller.Key{Cluster: logicalcluster.MustParseName("one1"), Name: "mine"}
	c.index.set(user, bindingTo("", "wild", "uid"))
	if err := c.collect(t.Context(), controller.Key{Cluster: logicalcluster.BoundCRDs, Name: "uid"}); err != nil || !slices.Equal(queue, []controller.Key{user}) {
		t.Errorf("looked at: %v, %v", queue, err)
	}
}

// TestUsedWhileItIsCollected: whoever is about to bind waits until it is certain that a
// definition stays, or has gone, which his transaction finds out.
func TestUsedWhileItIsCollected(t *testing.T) {
	all := shelf{"uid": {ObjectMeta: metav1.ObjectMeta{Name: "uid", CreationTimestamp: metav1.NewTime(time.Unix(0, 0))}}}
	synced := make(chan struct{})
	close(synced)
	c := &collector{
		index: newIndex(), synced: synced, clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0).Add(time.Hour)),
		enqueue: func(controller.Key) {},
	}
	user := controller.Key{Cluster: logicalcluster.MustParseName("one1"), Name: "mine"}
	used := make(chan struct{})
	c.definitions = slowShelf{all, func() {
		go func() {
			c.use(user, bindingTo("", "wild", "uid"))
			close(used)
		}()
		if c.deleting.TryRLock() {
			t.Error("it could be used while it goes")
			c.deleting.RUnlock()
		}
	}}
	if err := c.collect(t.Context(), controller.Key{Cluster: logicalcluster.BoundCRDs, Name: "uid"}); err != nil || len(all) > 0 {
		t.Errorf("it stays: %v, %v", all, err)
	}
	<-used
	all["uid"] = &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "uid"}}
	if err := c.collect(t.Context(), controller.Key{Cluster: logicalcluster.BoundCRDs, Name: "uid"}); err != nil || len(all) != 1 {
		t.Errorf("it went although it is used: %v", err)
	}
}

// slowShelf calls deleting before it deletes.
type slowShelf struct {
	shelf
	deleting func()
}

func (s slowShelf) Delete(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	s.deleting()
	return s.shelf.Delete(ctx, cluster, crd)
}
