package widgets

import (
	"testing"

	"github.com/forkless/kcp/pkg/kcptest"
)

func TestExport(t *testing.T) {
	provider, consumer := controlPlane.Workspace(t), controlPlane.Workspace(t)
	provider.Apply(t, kcptest.Files("export.yaml"))
	consumer.Bind(t, provider.Path(), "gadgets")
	consumer.Apply(t, kcptest.YAML(`
apiVersion: example.dev/v1
kind: Gadget
metadata: {name: mine}
`))
}
