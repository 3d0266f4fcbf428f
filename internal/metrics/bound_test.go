package metrics

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

func TestAllowList(t *testing.T) {
	list := allowList([]Served{
		{Version: "v1", Resource: "namespaces/status"},
		{Group: "example.com", Version: "v2", Resource: "widgets"},
	})
	cases := map[string]struct {
		reason  string
		key     string
		allowed []string
	}{
		"Group":       {"the core group has no name", "apiserver_request_total,group", []string{"", "example.com"}},
		"Version":     {"paths have none", "apiserver_request_total,version", []string{"", "v1", "v2"}},
		"Resource":    {"without its subresources", "apiserver_request_total,resource", []string{"", "namespaces", "widgets"}},
		"WebhookName": {"tenants choose it, whatever is served", "apiserver_admission_webhook_request_total,name", []string{""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := list[tc.key]
			if !ok {
				t.Fatalf("%s: nothing is said of %s", tc.reason, tc.key)
			}
			if values := strings.Split(got, ","); !slices.Equal(values, tc.allowed) {
				t.Errorf("%s: allowed are %q, want %q", tc.reason, values, tc.allowed)
			}
		})
	}
	subresources := strings.Split(list["apiserver_request_total,subresource"], ",")
	for _, want := range []string{"", "status", "/readyz"} {
		if !slices.Contains(subresources, want) {
			t.Errorf("subresource %q is not allowed", want)
		}
	}
}

func TestForget(t *testing.T) {
	count := func(group string) int {
		families, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, family := range families {
			if family.GetName() != cacheLists {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "group" && label.GetValue() == group {
						n++
					}
				}
			}
		}
		return n
	}
	cachermetrics.Register()
	gone, stays := schema.GroupResource{Group: "gone.example.com", Resource: "widgets"}, schema.GroupResource{Group: "stays.example.com", Resource: "widgets"}
	for _, index := range []string{"", "f:kcp.io/cluster"} {
		cachermetrics.RecordListCacheMetrics(gone, index, 1, 1)
		cachermetrics.RecordListCacheMetrics(stays, index, 1, 1)
	}
	if count(gone.Group) != 2 {
		t.Fatalf("%d series before", count(gone.Group))
	}
	Forget(gone)
	if count(gone.Group) != 0 {
		t.Errorf("%d series are left", count(gone.Group))
	}
	if count(stays.Group) != 2 {
		t.Errorf("another resource has %d series left", count(stays.Group))
	}
	cachermetrics.RecordListCacheMetrics(gone, "", 1, 1)
	Prune(func(resource schema.GroupResource) bool { return resource == stays })
	if count(gone.Group) != 0 || count(stays.Group) != 2 {
		t.Errorf("%d series are left of what is gone, %d of what stays", count(gone.Group), count(stays.Group))
	}
}
