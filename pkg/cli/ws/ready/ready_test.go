package ready

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestWait(t *testing.T) {
	initializing := func(change func(*tenancyv1alpha1.Workspace)) *tenancyv1alpha1.Workspace {
		ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
		ws.Status.Phase = corev1alpha1.PhaseInitializing
		if change != nil {
			change(ws)
		}
		return ws
	}
	ready := initializing(func(ws *tenancyv1alpha1.Workspace) { ws.Status.Phase = corev1alpha1.PhaseReady })
	never := time.Minute
	soon := 30 * time.Millisecond

	cases := map[string]struct {
		reason string
		// answers are given one after the other, the last one again and again; nil is
		// "not found".
		answers          []*tenancyv1alpha1.Workspace
		visible, patient time.Duration
		interrupt        bool
		err              string
	}{
		"Ready":        {reason: "it is ready when it says so", answers: []*tenancyv1alpha1.Workspace{initializing(nil), ready}, visible: never, patient: never},
		"VisibleLater": {reason: "reads may be behind writes", answers: []*tenancyv1alpha1.Workspace{nil, nil, ready}, visible: never, patient: never},
		"NeverVisible": {reason: "but not for ever", answers: []*tenancyv1alpha1.Workspace{nil}, visible: 0, patient: never, err: `workspace "eu" was created, but is still not visible after 0s`},
		"Disappeared":  {reason: "what was there and is not any more was deleted", answers: []*tenancyv1alpha1.Workspace{initializing(nil), nil}, visible: never, patient: never, err: `workspace "eu" has disappeared`},
		"Deleted": {
			reason:  "what is being deleted will not become ready",
			answers: []*tenancyv1alpha1.Workspace{initializing(func(ws *tenancyv1alpha1.Workspace) { ws.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })},
			visible: never, patient: never,
			err: `workspace "eu" is being deleted`,
		},
		"Initializer": {
			reason: "a timeout names the initializer that is still there",
			answers: []*tenancyv1alpha1.Workspace{initializing(func(ws *tenancyv1alpha1.Workspace) {
				ws.Status.Initializers = []corev1alpha1.Initializer{"root:acme:team"}
			})},
			visible: never, patient: soon,
			err: `workspace "eu" is not ready after 0.03s: waiting for initializer root:acme:team`,
		},
		"Initializers": {
			reason: "or all of them",
			answers: []*tenancyv1alpha1.Workspace{initializing(func(ws *tenancyv1alpha1.Workspace) {
				ws.Status.Initializers = []corev1alpha1.Initializer{"system:apibindings", "root:acme:team"}
			})},
			visible: never, patient: soon,
			err: `workspace "eu" is not ready after 0.03s: waiting for initializers system:apibindings, root:acme:team`,
		},
		"Condition": {
			reason: "or quotes the condition that is false",
			answers: []*tenancyv1alpha1.Workspace{initializing(func(ws *tenancyv1alpha1.Workspace) {
				ws.Status.Conditions = conditions.Conditions{{Type: "WorkspaceScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no shard matches"}}
			})},
			visible: never, patient: soon,
			err: `workspace "eu" is not ready after 0.03s: WorkspaceScheduled is false: no shard matches`,
		},
		"Phase": {
			reason:  "or at least the phase",
			answers: []*tenancyv1alpha1.Workspace{initializing(nil)},
			visible: never, patient: soon,
			err: `workspace "eu" is not ready after 0.03s: waiting in phase Initializing`,
		},
		"Interrupted": {
			reason:  "ctrl-c does not undo anything, and that is said",
			answers: []*tenancyv1alpha1.Workspace{initializing(nil)},
			visible: never, patient: never, interrupt: true,
			err: `interrupted: workspace "eu" exists and goes on initializing, waiting in phase Initializing`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := httptest.NewServer(&story{answers: tc.answers, told: func() {
				if tc.interrupt {
					cancel()
				}
			}})
			defer server.Close()
			c, err := client.New(&rest.Config{}, server.URL, t.Output())
			if err != nil {
				t.Fatal(err)
			}

			w := Waiter{Client: c, Parent: logicalcluster.Root.Path(), VisiblePatience: tc.visible, ReadyPatience: tc.patient}
			ws, err := w.Wait(ctx, initializing(nil), false)
			switch {
			case tc.err != "":
				if err == nil || err.Error() != tc.err {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
				}
			case err != nil || !IsReady(ws):
				t.Errorf("%s: got %v, %v", tc.reason, ws, err)
			}
		})
	}
}

// story is a server with one workspace: it answers a list with the first of answers, and
// a watch with the others.
type story struct {
	answers []*tenancyv1alpha1.Workspace
	told    func()
}

func (s *story) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		list := tenancyv1alpha1.WorkspaceList{}
		if ws := s.answers[0]; ws != nil {
			list.Items = append(list.Items, *ws)
		}
		_ = json.NewEncoder(w).Encode(list)
		s.told()
		return
	}
	for i, ws := range s.answers[1:] {
		event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Object: ws}}
		switch {
		case ws == nil && s.answers[i] == nil:
			continue
		case ws == nil:
			event = metav1.WatchEvent{Type: "DELETED", Object: runtime.RawExtension{Object: s.answers[i]}}
		}
		_ = json.NewEncoder(w).Encode(event)
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}
