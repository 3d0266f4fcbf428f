package lifecycle

import (
	"encoding/json"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// forms are the forms that lists can be had in.
var forms = map[string]behavior{
	"Pages": {
		reason: "a list can be read in pages",
		test: func(t *testing.T, s *suite) {
			wanted := map[string]int{}
			for range 3 {
				wanted[s.newborn(t, "first").Spec.Cluster] = 0
			}
			client, options := s.all(t, first, initializing, "first"), metav1.ListOptions{Limit: 1}
			for {
				page, err := client.List(t.Context(), options)
				must(t, err)
				if len(page.Items) > 1 {
					t.Fatalf("a page of %d", len(page.Items))
				}
				for i := range page.Items {
					wanted[clusterOf(&page.Items[i])]++
				}
				if options.Continue = page.GetContinue(); options.Continue == "" {
					break
				}
			}
			for cluster, count := range wanted {
				if count != 1 {
					t.Errorf("%s is there %d times", cluster, count)
				}
			}
		},
	},
	"Table": {
		reason: "kubectl gets a table with the columns of logical clusters",
		test: func(t *testing.T, s *suite) {
			s.newborn(t, "first")
			got := s.send(t, first, http.MethodGet, s.at(initializing, "first", everywhere)+"/apis/core.kcp.io/v1alpha1/logicalclusters", "",
				map[string]string{"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
			var table metav1.Table
			must(t, json.Unmarshal([]byte(got.body), &table))
			var columns []string
			for _, column := range table.ColumnDefinitions {
				columns = append(columns, column.Name)
			}
			if table.Kind != "Table" || len(table.Rows) == 0 || len(columns) != 4 || columns[1] != "Phase" {
				t.Errorf("got %d %s with columns %v", got.code, table.Kind, columns)
			}
		},
	},
	"Metadata": {
		reason: "informers of metadata alone can be had",
		test: func(t *testing.T, s *suite) {
			client, err := metadata.NewForConfig(s.config(t, first, initializing, "first", everywhere))
			must(t, err)
			list, err := client.Resource(logicalclusters).List(t.Context(), metav1.ListOptions{})
			must(t, err)
			w, err := client.Resource(logicalclusters).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
			must(t, err)
			defer w.Stop()
			ws := s.newborn(t, "first")
			event := next(t, w, ws.Spec.Cluster)
			if object, ok := event.Object.(*metav1.PartialObjectMetadata); !ok || event.Type != watch.Added || object.Name != corev1alpha1.LogicalClusterName {
				t.Errorf("got %s %v", event.Type, event.Object)
			}
		},
	},
	"Versions": {
		reason: "a list may be as it was at a version, or as it is after one",
		test: func(t *testing.T, s *suite) {
			client := s.all(t, first, initializing, "first")
			before, err := client.List(t.Context(), metav1.ListOptions{})
			must(t, err)
			ws := s.newborn(t, "first")
			if listed(t, client, ws.Spec.Cluster, metav1.ListOptions{ResourceVersion: before.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact}) {
				t.Error("listed at a version before it was there")
			}
			now, err := client.List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if !listed(t, client, ws.Spec.Cluster, metav1.ListOptions{ResourceVersion: now.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}) {
				t.Error("not listed at a version at which it is there")
			}
		},
	},
}
