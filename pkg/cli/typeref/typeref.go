// Package typeref is references to workspace types: how people write them, and what they
// lead to on a server.
//
//	[[:]PATH:]NAME
//
// A name without a path means the nearest type of that name: in the workspace it is said
// in, above it, or in root. What that is, what it extends and where it may be used is
// decided by the rules of pkg/tenancy, which are the server's own; a Source lets them
// read through the API. So nothing is guessed: what the caller may not read is an error,
// and not an answer.
package typeref

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// separator stands between the path of a workspace and the name of what is in it.
const separator = ":"

// Parse reads a reference. Names are in lower case; a colon before an absolute path may
// be left out.
func Parse(s string) (tenancyv1alpha1.WorkspaceTypeReference, error) {
	var ref tenancyv1alpha1.WorkspaceTypeReference
	path, name, hasPath := cutLast(strings.TrimPrefix(s, separator))
	ref.Name = strings.ToLower(name)
	if len(validation.IsDNS1123Label(ref.Name)) > 0 {
		return ref, unlike(s)
	}
	if !hasPath {
		return ref, nil
	}
	parsed, err := logicalcluster.ParsePath(path)
	if err != nil {
		return ref, unlike(s)
	}
	ref.Path = parsed.String()
	return ref, nil
}

// unlike says that s is no reference.
func unlike(s string) error {
	return fmt.Errorf("%q is no workspace type: it has to look like team or root:acme:team", s)
}

// ParseAll reads references.
func ParseAll(args []string) ([]tenancyv1alpha1.WorkspaceTypeReference, error) {
	var references []tenancyv1alpha1.WorkspaceTypeReference
	for _, arg := range args {
		ref, err := Parse(arg)
		if err != nil {
			return nil, err
		}
		references = append(references, ref)
	}
	return references, nil
}

// Format is the reverse of Parse.
func Format(ref tenancyv1alpha1.WorkspaceTypeReference) string {
	if ref.Path == "" {
		return ref.Name
	}
	return ref.Path + separator + ref.Name
}

// cutLast splits s at its last separator.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}
