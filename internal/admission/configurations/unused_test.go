package configurations

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestUnusedInstancesMakeRoom: workspaces that have configurations and are at rest must
// not fill memory.
func TestUnusedInstancesMakeRoom(t *testing.T) {
	index := NewIndex(nil)
	defer index.Close()
	for k, resource := range resources {
		index.begin(kind(k))
		index.Listener().Synced(resource)
	}
	ended := map[logicalcluster.Name]context.Context{}
	instances := NewInstances(index, func(ctx context.Context, place logicalcluster.Name) (int, error) {
		ended[place] = ctx
		return 0, nil
	}, MutatingWebhooks)
	now := time.Now()
	instances.maker.most, instances.maker.now = 3, func() time.Time { return now }
	use := func(i int) logicalcluster.Name {
		place := logicalcluster.MustParseName(fmt.Sprintf("cluster-%d", i))
		index.Listener().Changed(MutatingWebhooks, &admissionregistration.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
			Name: "a", Annotations: map[string]string{logicalcluster.AnnotationKey: place.String()},
		}})
		if _, ok, err := instances.Get(t.Context(), place); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return place
	}
	unused, used := use(0), use(1)
	use(2)
	use(3)
	if instances.Len() != 4 {
		t.Errorf("instances that may be in use stay, got %d", instances.Len())
	}
	now = now.Add(2 * unusedAfter)
	for i := 1; i <= 4; i++ {
		use(i)
	}
	if instances.Len() != 4 || ended[unused].Err() == nil || ended[used].Err() != nil {
		t.Errorf("only what was not used is dropped, got %d", instances.Len())
	}
	use(0)
	if ended[unused].Err() != nil {
		t.Error("it is made anew when it is needed")
	}
}
