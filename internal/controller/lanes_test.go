package controller

import (
	"strings"
	"testing"

	"k8s.io/client-go/util/workqueue"
)

func TestLanes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// add are the keys that are added: patient ones in upper case.
		add  string
		want string
	}{
		"InOrder":   {"keys come in the order in which they were added", "abc", "abc"},
		"Patient":   {"patient ones let others pass", "ABcd", "cdab"},
		"Share":     {"but not for ever", "ABcdefghij", "cdefaghijb"},
		"Twice":     {"a key that waits comes once", "aabA", "ab"},
		"Impatient": {"one that somebody else wants as well is patient no longer", "ABCc", "cab"},
		"Stays":     {"a patient source does not hold up what others want", "abA", "ab"},
		"Again":     {"it comes once, in whatever lane it was before", "ABbB", "ba"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLanes()
			q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Queue: l})
			for _, added := range strings.Split(tc.add, "") {
				key := strings.ToLower(added)
				l.mark(Key{Name: key}, key != added)
				q.Add(Key{Name: key})
			}
			got := ""
			for q.Len() > 0 {
				key, _ := q.Get()
				q.Done(key)
				got += key.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
			if len(l.queued) > 0 || len(l.marked) > 0 {
				t.Errorf("%v and %v are remembered", l.queued, l.marked)
			}
		})
	}
}

// TestLanesWhileWorking: what is added while it is being worked at waits as it is wanted
// then.
func TestLanesWhileWorking(t *testing.T) {
	l := newLanes()
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Queue: l})
	a, b := Key{Name: "a"}, Key{Name: "b"}
	add := func(key Key, patient bool) {
		l.mark(key, patient)
		q.Add(key)
	}
	add(a, false)
	q.Get()
	add(a, true)
	add(b, false)
	q.Done(a)
	if key, _ := q.Get(); key != b {
		t.Errorf("%s comes first, it was to be patient", key)
	}
	q.Get()
	add(a, true)
	add(a, false)
	q.Done(a)
	add(b, true)
	q.Done(b)
	if key, _ := q.Get(); key != a {
		t.Errorf("%s comes first, it was not to be patient", key)
	}
}
