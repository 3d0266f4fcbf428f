package versions

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// converting is a webhook that renames age to years and back.
type converting struct {
	*httptest.Server
	mu sync.Mutex
	// clusters are those of the objects that it was asked about.
	clusters map[string]int
}

func startConverting(t *testing.T) *converting {
	t.Helper()
	c := &converting{clusters: map[string]int{}}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *converting) serve(w http.ResponseWriter, req *http.Request) {
	var review struct {
		metav1.TypeMeta `json:",inline"`
		Request         struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	from, to := "age", "years"
	if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
		from, to = to, from
	}
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.DesiredAPIVersion
		if spec, ok := object["spec"].(map[string]any); ok {
			if value, found := spec[from]; found {
				spec[to] = value
				delete(spec, from)
			}
		}
		annotations, _ := object["metadata"].(map[string]any)["annotations"].(map[string]any)
		c.mu.Lock()
		c.clusters[fmt.Sprint(annotations["kcp.io/cluster"])]++
		c.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review.APIVersion, "kind": review.Kind,
		"response": map[string]any{
			"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
		},
	})
}

func (c *converting) askedAbout(cluster string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clusters[cluster]
}

// TestWebhook: a provider's webhook converts the objects of consumers, is told whose they
// are, and cannot make them another's. What is stored is migrated by it, too.
func TestWebhook(t *testing.T) {
	hook := startConverting(t)
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	provider := newProvider(t, server)
	one, two := newWorkspace(t, server), newWorkspace(t, server)
	for _, w := range []workspace{one, two} {
		w.bind(provider)
		w.create(peopleV1, "{apiVersion: example.com/v1, kind: Person, metadata: {name: ann}, spec: {age: 3}}")
		w.create(peopleV1, "{apiVersion: example.com/v1, kind: Person, metadata: {name: bob}, spec: {age: 5}}")
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	webhook := fmt.Sprintf("{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: %q, caBundle: %s}}}",
		hook.URL, base64.StdEncoding.EncodeToString(bundle))
	provider.create(schemas, peopleSchema(secondSchema, webhook, version1, version2))
	provider.replace(secondSchema)
	for _, w := range []workspace{one, two} {
		w.awaitSchema(secondSchema)
		u := w.get(peopleV2, "ann")
		w.expect("converted by the webhook", u, "spec.years", "3")
		w.expect("it is where it was", u, "metadata.annotations", fmt.Sprintf(`{"kcp.io/cluster":%q}`, w.cluster))
		w.patch(peopleV2, "ann", `{"spec":{"years":4}}`)
		w.expect("written in the other version", w.get(peopleV1, "ann"), "spec.age", "4")
		if hook.askedAbout(w.cluster) == 0 {
			t.Errorf("the webhook was not told that an object is in %s", w.cluster)
		}
	}
	awaitStored(t, etcd, "v2", 4)
	for _, w := range []workspace{one, two} {
		w.expect("migrated by the webhook", w.get(peopleV2, "bob"), "spec.years", "5")
	}
}
