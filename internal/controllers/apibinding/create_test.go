package apibinding

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestAnnouncements(t *testing.T) {
	const mine, older = types.UID("mine"), types.UID("older")
	key := controller.Key{Cluster: logicalcluster.MustParseName("one1"), Name: "a"}
	for name, tc := range map[string]struct {
		reason string
		act    func(*announcements)
		want   bool
	}{
		"Written":    {"the watch cache may not have it yet", func(*announcements) {}, true},
		"Seen":       {"the watch cache has it", func(a *announcements) { a.seen(key, mine) }, false},
		"OlderSeen":  {"the watch cache has not heard of the end of another one of that name", func(a *announcements) { a.seen(key, older) }, true},
		"Failed":     {"it may have been written all the same", func(a *announcements) { a.failed(key) }, true},
		"FailedSeen": {"somebody else has created one of that name", func(a *announcements) { a.failed(key); a.seen(key, older) }, false},
		"Dropped":    {"it is not stored", func(a *announcements) { a.failed(key); a.drop(key) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var a announcements
			a.add(key, mine)
			tc.act(&a)
			if got := a.has(key); got != tc.want {
				t.Errorf("%s: announced %v", tc.reason, got)
			}
			if !tc.want && len(a.all) > 0 {
				t.Errorf("%s: something is remembered: %v", tc.reason, a.all)
			}
			a.drop(key)
			a.failed(key)
			if len(a.all) > 0 {
				t.Errorf("a failure of what is forgotten is remembered: %v", a.all)
			}
		})
	}
}
