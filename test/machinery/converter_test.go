package machinery

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// converter is a conversion webhook. It knows widgets of example.com: v1 has
// spec.hostPort, v2 and v3 have spec.host and spec.port.
type converter struct {
	server *httptest.Server

	mu sync.Mutex
	// answer, if set, answers instead of the webhook.
	answer http.HandlerFunc
	// change, if set, is called with each object after it was converted.
	change func(object map[string]any)
	// batches are how many objects each request had.
	batches []int
	// versions are the versions of the reviews that came.
	versions map[string]int
	// seen are the clusters that objects said to be of.
	seen map[string]bool
}

// review is a ConversionReview of any version.
type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID               types.UID        `json:"uid"`
	DesiredAPIVersion string           `json:"desiredAPIVersion"`
	Objects           []map[string]any `json:"objects"`
}

type response struct {
	UID              types.UID      `json:"uid"`
	ConvertedObjects []any          `json:"convertedObjects"`
	Result           map[string]any `json:"result"`
}

// newConverter starts a webhook that ends with the test.
func newConverter(t testing.TB) *converter {
	t.Helper()
	c := &converter{versions: map[string]int{}, seen: map[string]bool{}}
	c.server = httptest.NewTLSServer(http.HandlerFunc(c.serve))
	t.Cleanup(func() {
		c.server.CloseClientConnections()
		c.server.Close()
	})
	return c
}

// caBundle returns the certificate of the webhook as clients have to know it.
func (c *converter) caBundle() string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw}))
}

// conversion is the field spec.conversion of a definition that uses the webhook.
func (c *converter) conversion(reviewVersions ...string) string {
	if len(reviewVersions) == 0 {
		reviewVersions = []string{"v1"}
	}
	return fmt.Sprintf(`{strategy: Webhook, webhook: {conversionReviewVersions: [%s], clientConfig: {url: "%s/convert", caBundle: %s}}}`,
		strings.Join(reviewVersions, ", "), c.server.URL, c.caBundle())
}

// set makes the webhook answer otherwise than it should; nil puts it right.
func (c *converter) set(answer http.HandlerFunc, change func(map[string]any)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer, c.change = answer, change
}

// counted returns how many objects each request had since the last call.
func (c *converter) counted() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	batches := c.batches
	c.batches = nil
	return batches
}

func (c *converter) serve(w http.ResponseWriter, req *http.Request) {
	c.mu.Lock()
	answer, change := c.answer, c.change
	c.mu.Unlock()
	if answer != nil {
		answer(w, req)
		return
	}
	in, err := readReview(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.note(in)
	out := answerTo(in)
	for _, object := range in.Request.Objects {
		convertWidget(object, in.Request.DesiredAPIVersion)
		if change != nil {
			change(object)
		}
		out.Response.ConvertedObjects = append(out.Response.ConvertedObjects, object)
	}
	writeReview(w, out)
}

func (c *converter) note(in *review) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, len(in.Request.Objects))
	c.versions[in.APIVersion]++
	for _, object := range in.Request.Objects {
		metadata, _ := object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if cluster, ok := annotations["kcp.io/cluster"].(string); ok {
			c.seen[cluster] = true
		}
	}
}

func readReview(req *http.Request) (*review, error) {
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	in := &review{}
	if err := json.Unmarshal(data, in); err != nil || in.Request == nil {
		return nil, fmt.Errorf("%q is no review: %w", data, err)
	}
	return in, nil
}

// answerTo returns an answer to a review that has no objects yet.
func answerTo(in *review) *review {
	return &review{APIVersion: in.APIVersion, Kind: in.Kind, Response: &response{
		UID: in.Request.UID, Result: map[string]any{"status": "Success"}, ConvertedObjects: []any{},
	}}
}

func writeReview(w http.ResponseWriter, out *review) {
	w.Header().Set("Content-Type", asJSON)
	_ = json.NewEncoder(w).Encode(out)
}

func convertWidget(object map[string]any, to string) {
	spec, _ := object["spec"].(map[string]any)
	switch hostPort, ok := spec["hostPort"].(string); {
	case ok && to != "example.com/v1":
		spec["host"], spec["port"], _ = strings.Cut(hostPort, ":")
		delete(spec, "hostPort")
	case !ok && to == "example.com/v1" && spec != nil:
		spec["hostPort"] = fmt.Sprintf("%v:%v", spec["host"], spec["port"])
		delete(spec, "host")
		delete(spec, "port")
	}
	object["apiVersion"] = to
}

// widgets is a definition of widgets whose objects are stored in a version.
func widgets(stored, conversion string) string {
	const (
		split  = `host: {type: string}, port: {type: string}`
		joined = `hostPort: {type: string}`
	)
	version := func(name, properties, selectable string, served bool) string {
		return fmt.Sprintf(`
  - name: %s
    served: %t
    storage: %t
    selectableFields: [{jsonPath: %s}]
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Where, type: string, jsonPath: %s}]
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {%s, replicas: {type: integer}, tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}}},
      status: {type: object, properties: {said: {type: string}, replicas: {type: integer}}}}}}`,
			name, served, name == stored, selectable, selectable, properties)
	}
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd]}
  conversion: ` + conversion + `
  versions:` +
		version("v1", joined, ".spec.hostPort", true) +
		version("v2", split, ".spec.host", true) +
		version("v3", split, ".spec.host", false) + "\n"
}

func widgetsURL(version string) string {
	return "/apis/example.com/" + version + "/namespaces/default/widgets"
}

func widget(version, name, spec string) string {
	return fmt.Sprintf("{apiVersion: example.com/%s, kind: Widget, metadata: {name: %s}, spec: {%s}}", version, name, spec)
}
