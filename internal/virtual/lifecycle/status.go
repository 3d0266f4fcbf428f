package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// apply returns lc with what the controller of hook wants of its status, or an Invalid
// Status error. It looks at nothing else of asked, and changes neither.
func apply(hook tenancy.Hook, lc, asked *corev1alpha1.LogicalCluster) (*corev1alpha1.LogicalCluster, error) {
	wanted := lc.DeepCopy()
	errs := applyHooks(hook, wanted, asked)
	errs = append(errs, applyConditions(wanted, asked)...)
	errs = append(errs, unchanged(hook, lc, asked)...)
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind.GroupKind(), lc.Name, errs)
	}
	return wanted, nil
}

// applyHooks removes the hook from lc if asked has it removed, and nothing else.
func applyHooks(hook tenancy.Hook, lc, asked *corev1alpha1.LogicalCluster) field.ErrorList {
	before, after := sets.New(pending(hook.Kind, lc)...), sets.New(pending(hook.Kind, asked)...)
	removed, added := before.Difference(after), after.Difference(before)
	switch {
	case removed.Len() == 0 && added.Len() == 0:
		return nil
	// A patch that replaces the list brings back what others have removed since it was
	// made. That is not what it is for.
	case removed.Equal(sets.New(hook.ID)) && sets.New(intended(hook.Kind, lc)...).IsSuperset(added):
		lc.Status.Initializers = without(hook, tenancy.Initializing, lc.Status.Initializers)
		lc.Status.Terminators = without(hook, tenancy.Terminating, lc.Status.Terminators)
		return nil
	}
	w := wordsFor(hook.Kind)
	return field.ErrorList{field.Invalid(w.field, pending(hook.Kind, asked), fmt.Sprintf("only removing the %q %s is supported", hook.ID, w.noun))}
}

// without returns hooks of a kind, without the one given.
func without[T ~string](hook tenancy.Hook, kind tenancy.HookKind, hooks []T) []T {
	if hook.Kind != kind {
		return hooks
	}
	return slices.DeleteFunc(slices.Clone(hooks), func(other T) bool { return string(other) == hook.ID })
}

// unchanged says what is not the business of hooks in what is asked for.
func unchanged(hook tenancy.Hook, lc, asked *corev1alpha1.LogicalCluster) (errs field.ErrorList) {
	const text = "cannot be changed by initializers and terminators"
	other := tenancy.Initializing
	if hook.Kind == tenancy.Initializing {
		other = tenancy.Terminating
	}
	if !sets.New(pending(other, lc)...).Equal(sets.New(pending(other, asked)...)) {
		errs = append(errs, field.Forbidden(wordsFor(other).field, text))
	}
	if lc.Status.Phase != asked.Status.Phase {
		errs = append(errs, field.Forbidden(field.NewPath("status", "phase"), text))
	}
	if lc.Status.URL != asked.Status.URL {
		errs = append(errs, field.Forbidden(field.NewPath("status", "URL"), text))
	}
	return errs
}

// applyConditions gives lc the conditions of asked, but for those that are the server's.
// They are brought into the form that conditions have, since no schema is looked at.
func applyConditions(lc, asked *corev1alpha1.LogicalCluster) (errs field.ErrorList) {
	for _, old := range slices.Clone(lc.Status.Conditions) {
		if !conditions.Has(asked, old.Type) && !isServers(old.Type) {
			conditions.Delete(lc, old.Type)
		}
	}
	for i, condition := range asked.Status.Conditions {
		wrong := validateCondition(condition, field.NewPath("status", "conditions").Index(i))
		if errs = append(errs, wrong...); len(wrong) == 0 && !isServers(condition.Type) {
			conditions.Set(lc, condition)
		}
	}
	return errs
}

// isServers says whether the server itself says something with conditions of a type. A
// patch that replaces the list has them as they were when it was made.
func isServers(t conditions.Type) bool {
	switch t {
	case corev1alpha1.APIBindingsInitialized, corev1alpha1.APIBindingsReconciled:
		return true
	default:
		return strings.HasPrefix(string(t), tenancyv1alpha1.WorkspaceConditionPrefix)
	}
}

func validateCondition(condition conditions.Condition, path *field.Path) (errs field.ErrorList) {
	if condition.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), ""))
	}
	switch condition.Status {
	case corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown:
	default:
		errs = append(errs, field.NotSupported(path.Child("status"), condition.Status,
			[]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}))
	}
	switch condition.Severity {
	case conditions.SeverityNone, conditions.SeverityInfo, conditions.SeverityWarning, conditions.SeverityError:
	default:
		errs = append(errs, field.NotSupported(path.Child("severity"), condition.Severity,
			[]conditions.Severity{conditions.SeverityError, conditions.SeverityWarning, conditions.SeverityInfo}))
	}
	return errs
}
