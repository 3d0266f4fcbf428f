package conversion

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// maxExpressions bounds how many expressions an APIConversion may have. A compiled one
// takes fifty kilobytes of the memory that all workspaces have in common.
const maxExpressions = 128

// Check says what is wrong with rules that somebody is about to write. Without versions,
// where the schema is not there yet, that is what is wrong with any schema.
func Check(spec *apisv1alpha1.APIConversionSpec, all []Version) field.ErrorList {
	at := field.NewPath("spec")
	if count := countExpressions(spec); count > maxExpressions {
		return field.ErrorList{field.Forbidden(at.Child("conversions"), fmt.Sprintf("has %d transformations, more than %d", count, maxExpressions))}
	}
	if len(all) == 0 {
		_, errs := compile(spec, mentioned(spec), environment.NewExpressions, at)
		return errs
	}
	_, errs := compile(spec, all, environment.NewExpressions, at)
	return append(errs, oneWay(spec, all, at.Child("conversions"))...)
}

func countExpressions(spec *apisv1alpha1.APIConversionSpec) int {
	count := 0
	for i := range spec.Conversions {
		for j := range spec.Conversions[i].Rules {
			if spec.Conversions[i].Rules[j].Transformation != "" {
				count++
			}
		}
	}
	return count
}

// mentioned returns the versions that rules name, with nothing known about them.
func mentioned(spec *apisv1alpha1.APIConversionSpec) []Version {
	var all []Version
	seen := map[string]bool{}
	for i := range spec.Conversions {
		for _, name := range []string{spec.Conversions[i].From, spec.Conversions[i].To} {
			if !seen[name] {
				seen[name] = true
				all = append(all, Version{Name: name})
			}
		}
	}
	return all
}

// oneWay finds conversions that there is no way back from. What is written in a version
// is read in it, too: by its name alone it would come back as something else. Only what
// was stored in a version once and is not served any more is converted one way.
func oneWay(spec *apisv1alpha1.APIConversionSpec, all []Version, at *field.Path) field.ErrorList {
	used, known := map[string]bool{}, map[versions]bool{}
	for i := range all {
		used[all[i].Name] = all[i].Served || all[i].Storage
	}
	for i := range spec.Conversions {
		known[versions{spec.Conversions[i].From, spec.Conversions[i].To}] = true
	}
	var errs field.ErrorList
	for i := range spec.Conversions {
		from, to := spec.Conversions[i].From, spec.Conversions[i].To
		if used[from] && from != to && !known[versions{to, from}] {
			errs = append(errs, field.Required(at.Index(i), fmt.Sprintf("a conversion from %s to %s needs one from %s to %s", from, to, to, from)))
		}
	}
	return errs
}
