package contract

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// kubernetesBehavior is what upstream clients, informers above all, rely on.
var kubernetesBehavior = map[string]behavior{
	"Chunks":         {"a list in pieces is the list", chunks},
	"FromCache":      {"lists that may be old come from the watch cache", fromCache},
	"StreamingLists": {"a watch that begins with a list says where the list ends", streamingLists},
	"IsolatedWatch":  {"a watch does not see what happens next door", isolatedWatch},
}

// createConfigMaps creates ConfigMaps with names that begin with that.
func (c caller) createConfigMaps(prefix string, count int) {
	c.t.Helper()
	client := c.kube().CoreV1().ConfigMaps("default")
	for i := range count {
		_, err := client.Create(c.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i)}}, metav1.CreateOptions{})
		ok(c.t, err)
	}
}

func chunks(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	inside.createConfigMaps("page", 3)
	// A neighbor's objects would come next in etcd.
	s.as(t, alice, s.universal(t, aliceName)).createConfigMaps("neighbor", 2)
	client := inside.kube().CoreV1().ConfigMaps("default")
	whole, err := client.List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	var names []string
	options := metav1.ListOptions{Limit: 1}
	for range len(whole.Items) + 1 {
		page, err := client.List(t.Context(), options)
		ok(t, err)
		for _, cm := range page.Items {
			names = append(names, cm.Name)
		}
		left := page.RemainingItemCount
		if want := int64(len(whole.Items) - len(names)); want > 0 && (left == nil || *left != want) {
			t.Errorf("after %d, the remaining item count is %v, want %d", len(names), left, want)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	var want []string
	for _, cm := range whole.Items {
		want = append(want, cm.Name)
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("in pieces %v, as a whole %v", names, want)
	}
}

func fromCache(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	before := cacheLists(t, s)
	_, err := inside.kube().CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	ok(t, err)
	if after := cacheLists(t, s); after <= before {
		t.Errorf("the watch cache has answered %v lists, before it was %v", after, before)
	}
}

// cacheLists returns how many lists of Secrets the watch cache has answered.
func cacheLists(t *testing.T, s *suite) float64 {
	t.Helper()
	sum := 0.0
	for line := range strings.Lines(s.as(t, s.master, "").get("/metrics").body) {
		if !strings.HasPrefix(line, "apiserver_cache_list_total{") || !strings.Contains(line, `resource="secrets"`) {
			continue
		}
		fields := strings.Fields(line)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		ok(t, err)
		sum += value
	}
	return sum
}

func streamingLists(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	inside.createConfigMaps("listed", 3)
	yes := true
	stream, err := inside.kube().CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{
		AllowWatchBookmarks: true, SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	ok(t, err)
	defer stream.Stop()
	seen := map[string]bool{}
	for {
		event, err := next(stream)
		ok(t, err)
		cm, is := event.Object.(*corev1.ConfigMap)
		if !is {
			t.Fatalf("got %v", event)
		}
		if event.Type == watch.Added {
			seen[cm.Name] = true
			continue
		}
		if event.Type != watch.Bookmark || cm.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
			t.Errorf("got %v", event)
		}
		break
	}
	for i := range 3 {
		if name := fmt.Sprintf("listed-%d", i); !seen[name] {
			t.Errorf("%s is not among %v", name, seen)
		}
	}
	inside.createConfigMaps("later", 1)
	event, err := next(stream)
	ok(t, err)
	if cm, is := event.Object.(*corev1.ConfigMap); !is || event.Type != watch.Added || cm.Name != "later-0" {
		t.Errorf("got %v", event)
	}
}

func next(stream watch.Interface) (watch.Event, error) {
	select {
	case event, open := <-stream.ResultChan():
		if !open {
			return event, errors.New("the watch has ended")
		}
		return event, nil
	case <-time.After(patience):
		return watch.Event{}, errors.New("no event")
	}
}

func isolatedWatch(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	stream, err := inside.kube().CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	ok(t, err)
	defer stream.Stop()
	s.as(t, alice, s.universal(t, aliceName)).createConfigMaps("neighbor", 3)
	inside.createConfigMaps("own", 1)
	for {
		event, err := next(stream)
		ok(t, err)
		cm, is := event.Object.(*corev1.ConfigMap)
		if !is || strings.HasPrefix(cm.Name, "neighbor") {
			t.Fatalf("got %v", event)
		}
		if cm.Name == "own-0" {
			break
		}
	}
}
