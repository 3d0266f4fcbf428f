package target

import (
	"io"
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/cli/client"
)

// ClientVia returns a client of its own whose requests go through what wrap makes of the
// transport, and whose warnings go to warnings: for programs that own the terminal, and
// show both themselves.
func (o *Origin) ClientVia(wrap func(http.RoundTripper) http.RoundTripper, warnings io.Writer) (*client.Client, error) {
	config, err := o.snapshot.RESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Wrap(wrap)
	c, err := client.New(config, o.Base, warnings)
	if err == nil && o.snapshot.ReadOnly() {
		c.ReadOnly()
	}
	return c, err
}
