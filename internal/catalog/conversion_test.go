package catalog_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/ptr"
)

// renaming is a webhook that changes the version of objects and nothing else.
func renaming(t *testing.T) *httptest.Server {
	t.Helper()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked := review["request"].(map[string]any)
		for _, object := range asked["objects"].([]any) {
			object.(map[string]any)["apiVersion"] = asked["desiredAPIVersion"]
		}
		review["response"] = map[string]any{"uid": asked["uid"], "convertedObjects": asked["objects"], "result": map[string]any{"status": "Success"}}
		delete(review, "request")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(hook.Close)
	return hook
}

// through makes a definition be converted by hook. Each comment makes another bundle of
// certificates of the same one.
func through(hook *httptest.Server, comment string) func(*apiextensionsv1.CustomResourceDefinition) {
	bundle := append([]byte(comment+"\n"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})...)
	return func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(hook.URL), CABundle: bundle},
			},
		}
	}
}

// TestWebhooksLeaveNothing: who edits the webhook of a definition again and again, each
// one in use, leaves neither goroutines nor memory behind.
func TestWebhooksLeaveNothing(t *testing.T) {
	const edits = 1000
	s, hook := newServer(t), renaming(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	use := func(comment int) {
		t.Helper()
		s.define(one, "widgets", through(hook, fmt.Sprint(comment)))
		s.must(http.StatusOK, "GET", betaURL+"/a", "")
	}
	// The memory that the first of them takes is not what is looked for.
	use(-1)
	goroutines, heap := runtime.NumGoroutine(), heapBytes()
	for i := range edits {
		use(i)
	}
	eventually(t, "the connections are closed", func() string {
		if n := runtime.NumGoroutine(); n > goroutines+10 {
			return fmt.Sprintf("%d goroutines, want %d", n, goroutines)
		}
		return ""
	})
	after := heapBytes()
	t.Logf("%d edits: %d goroutines before, %d after; heap %d KiB before, %d KiB after", edits, goroutines, runtime.NumGoroutine(), heap>>10, after>>10)
	// The clients used last are kept; all of them would be five times as much.
	if after > heap+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, after)
	}
}

// TestSeriesOfConversions: what is measured of conversions does not grow with what tenants
// call their definitions and versions.
func TestSeriesOfConversions(t *testing.T) {
	s, hook := newServer(t), renaming(t)
	for i := range 20 {
		plural := fmt.Sprintf("widgets%d", i)
		s.define(one, "widgets", through(hook, ""), func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Name = plural + ".example.com"
			crd.Spec.Names.Plural, crd.Status.AcceptedNames.Plural = plural, plural
		})
		url := strings.Replace(betaURL, "/widgets", "/"+plural, 1)
		s.must(http.StatusCreated, "POST", url, "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: a}, spec: {color: red}}")
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, family := range families {
		if family.GetName() != "apiserver_crd_conversion_webhook_duration_seconds" {
			continue
		}
		found = true
		// With success and without.
		if n := len(family.GetMetric()); n > 2 {
			t.Errorf("%d series", n)
		}
	}
	if !found {
		t.Error("conversions are not measured")
	}
}

func heapBytes() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
