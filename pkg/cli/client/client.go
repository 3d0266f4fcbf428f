package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Client talks to all workspaces of one server.
type Client struct {
	server rest.Interface
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

// at begins the path of a request to the workspace p.
func at(p logicalcluster.Path, segments ...string) []string {
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

func (c *Client) create(ctx context.Context, path []string, body, object any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request := c.server.Post().AbsPath(path...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(content)
	return decode(request.Do(ctx), object)
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
