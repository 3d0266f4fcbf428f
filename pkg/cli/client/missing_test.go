package client

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestExplainForbidden(t *testing.T) {
	const (
		workspaces = "/clusters/root:a/apis/tenancy.kcp.io/v1alpha1/workspaces"
		refusal    = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"workspaces is forbidden: access denied","reason":"Forbidden","code":403}`
	)
	for name, tc := range map[string]struct {
		reason  string
		answers map[string]string
		want    string
	}{
		"Outside": {
			reason:  "who may see nothing of the workspace may not be there",
			answers: map[string]string{workspaces: refusal, "/clusters/root:a/api": refusal, "/clusters/root:a/apis": refusal},
			want:    `access to workspace "root:a" denied`,
		},
		"Inside": {
			reason:  "who is in the workspace lacks a permission there, and the server has said which",
			answers: map[string]string{workspaces: refusal, "/clusters/root:a/api": `{"versions":["v1"]}`, "/clusters/root:a/apis": `{}`},
			want:    "workspaces is forbidden: access denied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := answering(t, tc.answers), logicalcluster.MustParsePath("root:a")
			_, err := c.Workspaces(t.Context(), p)
			if err = c.Explain(t.Context(), p, err); !apierrors.IsForbidden(err) || err.Error() != tc.want {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}
