package apiexportendpointslice

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var home = logicalcluster.MustParseName("home")

func TestDecide(t *testing.T) {
	const url = "https://host:6443/services/apiexport/home/widgets"
	shard := func(address string) *corev1alpha1.Shard {
		return &corev1alpha1.Shard{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"region": "north"}},
			Spec:       corev1alpha1.ShardSpec{VirtualWorkspaceURL: address},
		}
	}
	picks := func(selector *metav1.LabelSelector) *topologyv1alpha1.Partition {
		return &topologyv1alpha1.Partition{Spec: topologyv1alpha1.PartitionSpec{Selector: selector}}
	}
	in := func(region string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"region": region}}
	}
	for name, tc := range map[string]struct {
		reason    string
		partition string
		in        Input
		want      string
		selector  string
		fails     conditions.Type
	}{
		"Bound":        {reason: "somebody refers to the export", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443")}, want: url},
		"Slash":        {reason: "addresses may end in a slash", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443/")}, want: url},
		"Unbound":      {reason: "nobody does", in: Input{ExportCluster: home, Shard: shard("https://host:6443")}},
		"NoExport":     {reason: "there is no export", in: Input{Bound: true, Shard: shard("https://host:6443")}, fails: apisv1alpha1.APIExportValid},
		"NoShard":      {reason: "the shard is not known yet", in: Input{ExportCluster: home, Bound: true}},
		"NoAddress":    {reason: "the shard has no virtual workspaces", in: Input{ExportCluster: home, Bound: true, Shard: shard("")}},
		"In":           {reason: "the shard is in the partition", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443"), Partition: picks(in("north"))}, want: url, selector: "region=north"},
		"Out":          {reason: "it is not", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443"), Partition: picks(in("south"))}, selector: "region=south"},
		"All":          {reason: "an empty selector picks all", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443"), Partition: picks(&metav1.LabelSelector{})}, want: url},
		"None":         {reason: "a missing one none", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443"), Partition: picks(nil)}},
		"NoPartition":  {reason: "there is no such partition", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443")}, fails: apisv1alpha1.PartitionValid},
		"BadPartition": {reason: "nobody knows what it means", partition: "p", in: Input{ExportCluster: home, Bound: true, Shard: shard("https://host:6443"), Partition: picks(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Sometimes"}}})}, fails: apisv1alpha1.PartitionValid},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Slice = &apisv1alpha1.APIExportEndpointSlice{
				Spec: apisv1alpha1.APIExportEndpointSliceSpec{
					APIExport: apisv1alpha1.ExportBindingReference{Name: "widgets"}, Partition: tc.partition,
				},
				Status: apisv1alpha1.APIExportEndpointSliceStatus{
					APIExportEndpoints: []apisv1alpha1.APIExportEndpoint{{URL: "https://old"}}, ShardSelector: "old",
				},
			}
			got := Decide(tc.in).Status
			address := ""
			if len(got.APIExportEndpoints) > 0 {
				address = got.APIExportEndpoints[0].URL
			}
			if address != tc.want || got.ShardSelector != tc.selector {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			for _, c := range got.Conditions {
				if (c.Status == "False") != (c.Type == tc.fails) {
					t.Errorf("%s: got %+v", tc.reason, c)
				}
			}
			if tc.in.Slice.Status.ShardSelector != "old" {
				t.Error("the input was changed")
			}
		})
	}
}
