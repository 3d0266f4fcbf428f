package switching

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/client"
)

func TestDecide(t *testing.T) {
	var (
		workspaces = schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}
		notFound   = apierrors.NewNotFound(workspaces, "a")
		forbidden  = apierrors.NewForbidden(workspaces, "a", errors.New("no"))
		broken     = apierrors.NewInternalError(errors.New("broken"))
	)
	cases := map[string]struct {
		reason   string
		evidence evidence
		want     error
	}{
		"Visible":                {"APIs are all that is needed", evidence{visibility: client.Visible, parent: true}, nil},
		"VisibleParentForbidden": {"who may work in a workspace need not see the one above", evidence{visibility: client.Visible, parent: true, parentErr: forbidden}, nil},
		"VisibleParentNotFound":  {"the parent may not know it: identifiers and aliases", evidence{visibility: client.Visible, parent: true, parentErr: notFound}, nil},
		"ForbiddenNotFound":      {"a server may answer 403 for what is not there", evidence{visibility: client.Forbidden, parent: true, parentErr: notFound}, errNotFound},
		"AbsentNotFound":         {"neither here nor there", evidence{visibility: client.Absent, parent: true, parentErr: notFound}, errNotFound},
		"ForbiddenExists":        {"it is there, but not for this user", evidence{visibility: client.Forbidden, parent: true}, errDenied},
		"AbsentForbidden":        {"the server has said so, and who may not look above believes it", evidence{visibility: client.Absent, parent: true, parentErr: forbidden}, errNotFound},
		"AbsentExists":           {"without APIs nobody can work in it", evidence{visibility: client.Absent, parent: true}, errDenied},
		"ForbiddenForbidden":     {"whether it is there is a secret", evidence{visibility: client.Forbidden, parent: true, parentErr: forbidden}, errDenied},
		"ForbiddenBroken":        {"a parent that fails tells nothing", evidence{visibility: client.Forbidden, parent: true, parentErr: broken}, errDenied},
		"Inactive":               {"a workspace that is offline is there, and denies nobody", evidence{visibility: client.Inactive, parent: true}, errInactive},
		"InactiveNotFound":       {"by its identifier it is offline, too", evidence{visibility: client.Inactive, parent: true, parentErr: notFound}, errInactive},
		"ForbiddenTop":           {"nothing above can be asked", evidence{visibility: client.Forbidden}, errDenied},
		"AbsentTop":              {"and nothing denies it", evidence{visibility: client.Absent}, errNotFound},
		"ProbeFailed":            {"a server that fails has not denied anything", evidence{probeErr: broken, parent: true, parentErr: notFound}, broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.evidence.decide(); !errors.Is(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
