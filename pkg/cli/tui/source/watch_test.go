package source

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience ends a test that waits for what never comes.
const patience = time.Minute

// script answers lists and watches of the workspaces in root, each with the next text.
type script struct {
	mu             sync.Mutex
	lists, watches []string
	asked          []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/workspaces") {
		refuse(w, http.StatusForbidden, "Forbidden")
		return
	}
	watch := r.URL.Query().Get("watch") != ""
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("watch=%v from=%q", watch, r.URL.Query().Get("resourceVersion")))
	texts := &s.lists
	if watch {
		texts = &s.watches
	}
	text := ""
	if len(*texts) > 0 {
		text, *texts = (*texts)[0], (*texts)[1:]
	}
	s.mu.Unlock()
	switch text {
	case "403":
		refuse(w, http.StatusForbidden, "Forbidden")
	case "404":
		refuse(w, http.StatusNotFound, "NotFound")
	case "503":
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, text)
		w.(http.Flusher).Flush()
		if watch && !strings.Contains(text, "ERROR") {
			<-r.Context().Done()
		}
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"refused"}`, reason, code)
}

func TestWatch(t *testing.T) {
	const (
		listOfA = `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`
		listOfB = `{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"b"}}]}`
	)
	cases := map[string]struct {
		reason         string
		lists, watches []string
		// want are the messages, as they are told by say.
		want []string
	}{
		"Changes": {
			reason: "first all there is, then every change; those that come together are told together, the last one of a workspace counts",
			lists:  []string{listOfA},
			watches: []string{`{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"2"}}}
				{"type":"MODIFIED","object":{"metadata":{"name":"b","resourceVersion":"3"},"status":{"phase":"Ready"}}}
				{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"4"}}}
				{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}`},
			want: []string{"list a", "live", "now b=Ready gone a"},
		},
		"TooOld": {
			reason:  "what the server does not remember is listed anew, without anybody noticing",
			lists:   []string{listOfA, listOfB},
			watches: []string{`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`, ""},
			want:    []string{"list a", "live", "list b", "live"},
		},
		"Denied":  {reason: "nobody may look, which is not tried again at once", lists: []string{"403"}, want: []string{"lost denied"}},
		"Absent":  {reason: "workspaces of some types have none below them", lists: []string{"404"}, want: []string{"lost childless"}},
		"Recover": {reason: "a server that cannot answer is asked again", lists: []string{"503", listOfA}, watches: []string{""}, want: []string{"lost unreachable", "list a", "live"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{lists: tc.lists, watches: tc.watches}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			c, err := client.New(&rest.Config{}, server.URL, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var got []string
			(&Server{Client: c}).Watch(ctx, model.Watch{Seq: 7, Path: logicalcluster.Root.Path()}, func(msg model.Msg) {
				if got = append(got, say(t, msg)); len(got) == len(tc.want) {
					cancel()
				}
			})
			if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("%s:\ngot  %q\nwant %q\nasked %q", tc.reason, got, tc.want, s.asked)
			}
		})
	}
}

// say tells a message in a few words.
func say(t *testing.T, msg model.Msg) string {
	t.Helper()
	switch m := msg.(type) {
	case model.Children:
		return fmt.Sprintf("list %s", names(m.Items))
	case model.Live:
		return "live"
	case model.Changes:
		return fmt.Sprintf("now %s gone %s", names(m.Now), strings.Join(m.Gone, ","))
	case model.Lost:
		return "lost " + map[model.Loss]string{model.Denied: "denied", model.Childless: "childless", model.Unreachable: "unreachable", model.Hidden: "hidden", model.Broken: "broken"}[m.Why]
	default:
		t.Errorf("what is a %T", msg)
		return ""
	}
}

func names(items []model.Item) string {
	var names []string
	for i := range items {
		name := items[i].Name
		if items[i].Phase != "" {
			name += "=" + items[i].Phase
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}
