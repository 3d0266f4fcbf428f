package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Client talks to all workspaces of one server.
type Client struct {
	server rest.Interface
	// readOnly refuses requests that write.
	readOnly bool
}

// New returns a client of the server at base, a URL that names no workspace. config
// says how to connect and who is asking; its host is not used. Warnings of the server
// go to warnings.
func New(config *rest.Config, base string, warnings io.Writer) (*Client, error) {
	// Status is all that has to be decoded by kind.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	config = rest.CopyConfig(config)
	config.Host = base
	config.APIPath = ""
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	// A tree needs as many requests as it has nodes; how many there are at a time is
	// the concern of who draws it.
	config.QPS = -1

	server, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", base, err)
	}
	return &Client{server: server}, nil
}

// URL returns the address of the workspace p.
func (c *Client) URL(p logicalcluster.Path) string {
	return c.server.Get().AbsPath(at(p)...).URL().String()
}

// at begins the path of a request to the workspace p or, if that is empty, to a server
// that has no workspaces.
func at(p logicalcluster.Path, segments ...string) []string {
	if p.Empty() {
		return segments
	}
	return append([]string{"clusters", p.String()}, segments...)
}

// get reads what is at the path into object.
func (c *Client) get(ctx context.Context, path []string, params map[string]string, object any) error {
	request := c.server.Get().AbsPath(path...)
	for name, value := range params {
		request = request.Param(name, value)
	}
	return decode(request.Do(ctx), object)
}

// send makes a request with a body, the JSON of content.
func (c *Client) send(ctx context.Context, request *rest.Request, contentType string, content, object any) error {
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return decode(request.SetHeader("Content-Type", contentType).Body(body).Do(ctx), object)
}

func (c *Client) create(ctx context.Context, path []string, params map[string]string, body, object any) error {
	if err := c.mayWrite(path, params["dryRun"]); err != nil {
		return err
	}
	request := c.server.Post().AbsPath(path...)
	for name, value := range params {
		request = request.Param(name, value)
	}
	return c.send(ctx, request, runtime.ContentTypeJSON, body, object)
}

// patch changes the fields that are in patch. If it has a resource version, that is a
// condition.
func (c *Client) patch(ctx context.Context, path []string, patch, object any) error {
	if err := c.mayWrite(path); err != nil {
		return err
	}
	return c.send(ctx, c.server.Patch(types.MergePatchType).AbsPath(path...), string(types.MergePatchType), patch, object)
}

// remove deletes what is at the path.
func (c *Client) remove(ctx context.Context, path []string, options metav1.DeleteOptions) error {
	if err := c.mayWrite(path, options.DryRun...); err != nil {
		return err
	}
	var answer json.RawMessage
	return c.send(ctx, c.server.Delete().AbsPath(path...), runtime.ContentTypeJSON, options, &answer)
}

// list returns everything at the path, some at a time.
func list[T any](ctx context.Context, c *Client, path []string) ([]T, error) {
	var all []T
	params := map[string]string{"limit": strconv.Itoa(pageSize)}
	for {
		var page struct {
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := c.get(ctx, path, params, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Continue == "" {
			return all, nil
		}
		params["continue"] = page.Continue
	}
}

func decode(result rest.Result, object any) error {
	// Error, unlike Raw, makes the server's own Status of the body.
	if err := result.Error(); err != nil {
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, object); err != nil {
		return fmt.Errorf("the server's answer is not the JSON of a Kubernetes API: %w", err)
	}
	return nil
}
