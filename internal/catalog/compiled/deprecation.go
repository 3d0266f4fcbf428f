package compiled

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"
)

// warnings returns what users of a version of spec are to be told.
func warnings(spec *apiextensionsv1.CustomResourceDefinitionSpec, of *apiextensionsv1.CustomResourceDefinitionVersion) []string {
	switch {
	case !of.Deprecated:
		return nil
	case of.DeprecationWarning != nil:
		return []string{*of.DeprecationWarning}
	}
	warning := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, of.Name, spec.Names.Kind)
	if successor := successor(spec, of.Name); successor != "" {
		warning += fmt.Sprintf("; use %s/%s %s", spec.Group, successor, spec.Names.Kind)
	}
	return []string{warning}
}

// successor returns the highest version above name that is served and not deprecated,
// or nothing.
func successor(spec *apiextensionsv1.CustomResourceDefinitionSpec, name string) string {
	highest, found := name, false
	for _, candidate := range spec.Versions {
		if candidate.Served && !candidate.Deprecated && version.CompareKubeAwareVersionStrings(candidate.Name, highest) > 0 {
			highest, found = candidate.Name, true
		}
	}
	if !found {
		return ""
	}
	return highest
}
