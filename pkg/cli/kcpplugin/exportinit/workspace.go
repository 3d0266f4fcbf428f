package exportinit

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// workspace is the store that is a workspace on a server.
type workspace struct {
	apis *client.APIs
	out  io.Writer
}

func newWorkspace(ctx context.Context, finder *target.Finder, name string) (*workspace, error) {
	origin, err := finder.Origin()
	if err != nil {
		return nil, err
	}
	p, err := origin.Workspace(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := origin.Client()
	if err != nil {
		return nil, err
	}
	apis, err := c.APIs(ctx, p)
	if err != nil {
		return nil, err
	}
	if apis.Old() {
		return nil, errors.New("this server does not know version v1alpha2 of exports")
	}
	return &workspace{apis: apis, out: finder.Streams.Out}, nil
}

func (w *workspace) load(ctx context.Context, exports []string) (present, error) {
	have := present{exports: map[string]*apisv1alpha2.APIExport{}}
	for _, name := range exports {
		export, err := w.apis.Export(ctx, name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return present{}, err
		}
		have.exports[name] = &export.APIExport
	}
	var err error
	have.schemas, err = w.apis.ResourceSchemas(ctx)
	return have, err
}

func (w *workspace) putSchema(ctx context.Context, s plannedSchema) error {
	if !s.isNew {
		return w.say("apiresourceschema.apis.kcp.io/%s unchanged", s.Name)
	}
	if err := w.apis.CreateResourceSchema(ctx, s.APIResourceSchema); err != nil {
		return err
	}
	return w.say("apiresourceschema.apis.kcp.io/%s created", s.Name)
}

func (w *workspace) putExport(ctx context.Context, e plannedExport) error {
	switch {
	case e.before == nil:
		if err := w.apis.CreateExport(ctx, e.APIExport); err != nil {
			return err
		}
		return w.say("apiexport.apis.kcp.io/%s created", e.Name)
	case !e.changed():
		return w.say("apiexport.apis.kcp.io/%s unchanged", e.Name)
	}
	// The condition on the version keeps what somebody else has added meanwhile.
	err := w.apis.PatchExport(ctx, e.Name, map[string]any{
		"metadata": map[string]any{"resourceVersion": e.before.ResourceVersion},
		"spec": map[string]any{
			"resources":        e.Spec.Resources,
			"permissionClaims": e.Spec.PermissionClaims,
		},
	})
	if err != nil {
		return err
	}
	return w.say("apiexport.apis.kcp.io/%s configured", e.Name)
}

func (w *workspace) say(format string, args ...any) error {
	_, err := fmt.Fprintf(w.out, format+"\n", args...)
	return err
}
