package binding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

// noBind is what servers say in the error of somebody who may make bindings, but not to this
// export. Quotas and policies of the workspace refuse bindings as forbidden, too.
const noBind = "no permission to bind to export"

// permission says whether the caller may bind.
func (j *judge) permission() {
	if j.Binding == nil {
		j.prospect()
		return
	}
	check := diagnosis.Check{Name: "you may bind", State: diagnosis.OK, Message: "verb bind on apiexports/" + j.ExportName}
	switch {
	case j.MayBindErr != nil:
		check.State, check.Message = diagnosis.Unknown, "you may not enter "+j.Provider.String()+"; whoever made the binding could bind"
	case !j.MayBind.Allowed:
		check.State = diagnosis.Warning
		check.Message += " is not granted to you (any more)"
	}
	j.Add(check)
}

// prospect says what would come of a binding that is not there yet: whether the caller may
// make bindings at all, and whether to this export.
func (j *judge) prospect() {
	if len(j.Lacks) > 0 {
		j.Add(diagnosis.Check{
			Name: "you may create", State: diagnosis.Failed,
			Message: fmt.Sprintf("verb %s on apibindings is not granted to you in %s", strings.Join(j.Lacks, ", "), j.Consumer),
		})
	}
	check := j.mayBind()
	j.Add(check)
	switch {
	case len(j.Lacks) > 0, check.State == diagnosis.Failed && j.unbindable():
		j.blockPermission(check.State)
	case check.State == diagnosis.Failed:
		j.Block("the server refuses such a binding: " + j.TryErr.Error())
	}
}

// mayBind says what is known about whether the export may be bound. Servers look at that
// only when somebody makes a binding who may do so, unless he may ask where the export is.
func (j *judge) mayBind() diagnosis.Check {
	check := diagnosis.Check{Name: "you may bind", State: diagnosis.OK, Message: "verb bind on apiexports/" + j.ExportName}
	switch {
	case j.tried() && j.TryErr != nil && !apierrors.IsNotFound(j.TryErr):
		check.State, check.Message = diagnosis.Failed, j.TryErr.Error()
	case j.tried():
	case j.MayBindErr != nil:
		check.State, check.Message = diagnosis.Unknown, "you may not enter "+j.Provider.String()
	case !j.MayBind.Allowed:
		check.State = diagnosis.Failed
		check.Message += " is not granted to you"
	}
	return check
}

// tried says whether the server got as far as to look at a binding.
func (j *judge) tried() bool { return !slices.Contains(j.Lacks, "create") }

// unbindable says whether it is the permission to bind that is missing.
func (j *judge) unbindable() bool {
	return !j.tried() || apierrors.IsForbidden(j.TryErr) && strings.Contains(j.TryErr.Error(), noBind)
}

// blockPermission says what the caller has to be granted before he can bind; bind is what is
// known of whether he may. An export that is not there reads like one that may not be bound,
// unless one may read exports there.
func (j *judge) blockPermission(bind diagnosis.State) {
	var lacking, steps []string
	user := cmp.Or(j.User, "USER")
	if len(j.Lacks) > 0 {
		lacking = append(lacking, fmt.Sprintf("%s apibindings in %s", strings.Join(j.Lacks, " and "), j.Consumer))
		steps = diagnosis.PermitBindings(j.Commands, j.Consumer, user)
	}
	if bind == diagnosis.Failed && !apierrors.IsNotFound(j.ExportErr) {
		what := "bind " + j.reference()
		if j.Export == nil {
			what += ", if there is such an export"
		}
		lacking = append(lacking, what)
		steps = append(steps, diagnosis.PermitBind(j.Commands, j.Provider.String(), j.ExportName, user)...)
	}
	if len(lacking) == 0 {
		// There is no such export, which is said elsewhere.
		return
	}
	switch {
	case apierrors.IsNotFound(j.ExportErr):
	case bind == diagnosis.Unknown:
		steps = append(steps, diagnosis.Step(j.Commands.Plugin(j.Consumer, "kcp", "debug", "binding", j.reference()), "says then whether you may bind it"))
	default:
		steps = append(steps, j.Commands.Plugin(j.Consumer, "kcp", "bind", "apiexport", j.reference()))
	}
	j.Block("you may not "+strings.Join(lacking, ", nor "), steps...)
}
