package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestPages(t *testing.T) {
	const path = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces"
	c := answering(t, map[string]string{
		path:        `{"metadata": {"continue": "x", "resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}`,
		path + "?x": `{"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "b"}}]}`,
	})
	var pages [][]string
	version, err := c.Pages(t.Context(), logicalcluster.Root.Path(), func(page []tenancyv1alpha1.Workspace) error {
		var names []string
		for _, ws := range page {
			names = append(names, ws.Name)
		}
		pages = append(pages, names)
		return nil
	})
	if err != nil || version != "7" {
		t.Errorf("version %q (%v)", version, err)
	}
	if diff := cmp.Diff([][]string{{"a"}, {"b"}}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestReadEvents(t *testing.T) {
	cases := map[string]struct {
		reason, stream string
		want           []string
		err            func(error) bool
	}{
		"Changes": {
			reason: "changes come in their order, and the end of a watch is no error",
			stream: `{"type":"ADDED","object":{"metadata":{"name":"a"}}}
				{"type":"DELETED","object":{"metadata":{"name":"a"}}}
				{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`,
			want: []string{"ADDED a", "DELETED a", "BOOKMARK "},
			err:  func(err error) bool { return err == nil },
		},
		"TooOld": {
			reason: "the server says in the stream that its memory does not go back that far",
			stream: `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}`,
			err:    apierrors.IsResourceExpired,
		},
		"Broken": {
			reason: "a connection that breaks in the middle of an event",
			stream: `{"type":"ADDED","object":{"met`,
			err:    func(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "reading a watch: ") },
		},
		"Stopped": {
			reason: "who reads may have enough",
			stream: `{"type":"ADDED","object":{"metadata":{"name":"stop"}}} nonsense`,
			want:   []string{"ADDED stop"},
			err:    func(err error) bool { return errors.Is(err, errStop) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := readEvents(strings.NewReader(tc.stream), func(change Watched) error {
				got = append(got, string(change.Type)+" "+change.Workspace.Name)
				if change.Workspace.Name == "stop" {
					return errStop
				}
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" || !tc.err(err) {
				t.Errorf("%s: error %v, (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

var errStop = errors.New("stop")
