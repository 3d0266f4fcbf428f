package switching

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// evidence is what two requests tell about a workspace.
type evidence struct {
	visibility client.Visibility
	probeErr   error

	// parent says whether there is a workspace above that may hold a Workspace object.
	// The root, system clusters and bare identifiers have none.
	parent    bool
	workspace *tenancyv1alpha1.Workspace
	parentErr error
}

// The ways in which a workspace cannot be entered.
var (
	errNotFound = errors.New("not found")
	errDenied   = errors.New("denied")
	errInactive = errors.New("inactive")
)

// decide returns nil if the workspace can be entered, errNotFound, errDenied or
// errInactive if not, and another error if that could not be found out.
func (e evidence) decide() error {
	switch {
	case e.probeErr != nil:
		return e.probeErr
	case e.visibility == client.Visible:
		return nil
	case e.visibility == client.Inactive:
		return errInactive
	case e.parent && apierrors.IsNotFound(e.parentErr):
		return errNotFound
	case e.visibility == client.Absent && (!e.parent || apierrors.IsForbidden(e.parentErr)):
		// The tops of trees outside of root have a path above them at which nothing is.
		return errNotFound
	default:
		return errDenied
	}
}

// inspect makes sure that p can be entered, and returns its type as people write it,
// or "" if that may not be read.
func inspect(ctx context.Context, c *client.Client, p logicalcluster.Path) (string, error) {
	e := gather(ctx, c, p)
	switch err := e.decide(); {
	case err == nil:
		return typeName(p, e.workspace), nil
	case errors.Is(err, errNotFound):
		return "", c.Missing(ctx, p)
	case errors.Is(err, errDenied) && isNowhere(e.workspace):
		return "", run.Hint(fmt.Errorf("workspace \"%s\" is not available", p), whatIsWrong(e.workspace)...)
	case errors.Is(err, errDenied):
		return "", client.Denied(p, nil)
	case errors.Is(err, errInactive):
		return "", run.Hint(fmt.Errorf("workspace \"%s\" is offline", p),
			fmt.Sprintf("kubectl annotate logicalcluster cluster %s- --server=%s brings it back", corev1alpha1.InactiveAnnotationKey, c.URL(p)))
	case apierrors.IsServiceUnavailable(err):
		return "", run.Hint(fmt.Errorf("workspace \"%s\" is not available", p), whatIsWrong(e.workspace)...)
	default:
		return "", err
	}
}

// Check returns an error that says why if the workspace p cannot be worked in.
func Check(ctx context.Context, c *client.Client, p logicalcluster.Path) error {
	_, err := inspect(ctx, c, p)
	return err
}

// gather makes the requests, both at a time.
func gather(ctx context.Context, c *client.Client, p logicalcluster.Path) evidence {
	var e evidence
	parent, ok := p.Parent()
	e.parent = ok

	done := make(chan struct{})
	go func() {
		defer close(done)
		if ok {
			e.workspace, e.parentErr = c.Workspace(ctx, parent, p.Base())
		}
	}()
	visibility, err := c.Probe(ctx, p)
	<-done
	e.visibility, e.probeErr = visibility, err
	return e
}

// isNowhere says whether ws leads nowhere yet, so that whoever asks is turned away: it has
// not got its place, or what is mounted there is not ready.
func isNowhere(ws *tenancyv1alpha1.Workspace) bool {
	if ws == nil {
		return false
	}
	return ws.Spec.URL == "" || ws.Spec.Mount != nil && ws.Status.Phase != corev1alpha1.PhaseReady
}

// whatIsWrong returns what the conditions of a workspace say against it. It may be nil.
func whatIsWrong(ws *tenancyv1alpha1.Workspace) []string {
	if ws == nil {
		return nil
	}
	var messages []string
	for _, condition := range ws.Status.Conditions {
		if condition.Status == corev1.ConditionFalse && condition.Message != "" {
			messages = append(messages, condition.Message)
		}
	}
	return messages
}

// typeName returns the type of the workspace p as "<path>:<name>".
func typeName(p logicalcluster.Path, ws *tenancyv1alpha1.Workspace) string {
	switch {
	case p == logicalcluster.Root.Path():
		return p.String()
	case ws == nil || ws.Spec.Type == nil:
		return ""
	default:
		return FormatType(*ws.Spec.Type)
	}
}

// FormatType returns a workspace type as people write it.
func FormatType(ref tenancyv1alpha1.WorkspaceTypeReference) string {
	if ref.Path == "" {
		return ref.Name
	}
	return ref.Path + ":" + ref.Name
}
