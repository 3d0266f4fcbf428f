package workspace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
)

func held(finalizers ...string) func(*ws) { return func(w *ws) { w.Finalizers = finalizers } }

func deleted(w *ws) {
	now := metav1.NewTime(time.Unix(1, 0))
	w.DeletionTimestamp = &now
}

func TestFinalizer(t *testing.T) {
	const own, foreign = "core.kcp.io/logicalcluster", "example.dev/hold"
	for name, tc := range map[string]struct {
		reason  string
		ws, old *ws
		want    []string
	}{
		"Create":        {reason: "a deletion right after the creation has to wait", ws: of(), want: []string{own}},
		"CreateWith":    {reason: "it is there once", ws: of(held(own)), want: []string{own}},
		"CreateForeign": {reason: "others stay", ws: of(held(foreign)), want: []string{foreign, own}},
		"Drop":          {reason: "who drops it and deletes the workspace would leave the cluster behind", ws: of(), old: of(held(own)), want: []string{own}},
		"Deleted":       {reason: "what is being deleted gets no new finalizers", ws: of(deleted), old: of(deleted, held(own))},
		"Mount":         {reason: "a mounted workspace has no cluster", ws: of(mount("Cluster", "x", "v1"))},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := request(t, tc.ws, tc.old, nil).Attributes()
			if err := plugin(t, "").Admit(admissiontest.In(t, tenancytest.ClusterAt("root:org")), attributes, nil); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			got := attributes.GetObject().(*unstructured.Unstructured).GetFinalizers()
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: finalizers (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
