package logicalcluster

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	// AnnotationKey is the annotation that names the logical cluster of an object.
	// The server sets it on every object; what a client sends is overwritten.
	AnnotationKey = "kcp.io/cluster"

	// PathAnnotationKey is the annotation that holds the canonical path of the
	// workspace an object lives in.
	PathAnnotationKey = "kcp.io/path"

	systemPrefix = "system:"

	// maxNameLength bounds a system cluster name; the other names are bounded by
	// their grammar.
	maxNameLength = 128
)

var (
	nameRegexp       = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$`)
	systemNameRegexp = regexp.MustCompile(`^system:[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$`)
)

// Name identifies a logical cluster. The zero Name is "no cluster". Names are
// comparable and may be map keys.
type Name struct{ value string }

var (
	// Root is the logical cluster at the top of the workspace tree.
	Root = Name{"root"}
	// Wildcard stands for all logical clusters. Only lists and watches may carry it:
	// those of privileged callers, and those of workspaces by who may read them in each.
	Wildcard = Name{"*"}
	// SystemAdmin holds the policy that is in force in every workspace.
	SystemAdmin = Name{"system:admin"}
	// SystemShard holds what a shard knows of itself.
	SystemShard = Name{"system:shard"}
	// BoundCRDs holds the definitions that bound schemas have become.
	BoundCRDs = Name{"system:bound-crds"}
)

// ParseName returns the logical cluster that s names. The wildcard is not a name
// of one cluster and is refused.
func ParseName(s string) (Name, error) {
	switch {
	case len(s) > maxNameLength:
		return Name{}, fmt.Errorf("cluster name of %d characters is too long, at most %d are allowed", len(s), maxNameLength)
	case strings.HasPrefix(s, systemPrefix) && systemNameRegexp.MatchString(s):
		return Name{s}, nil
	case nameRegexp.MatchString(s):
		return Name{s}, nil
	default:
		return Name{}, fmt.Errorf("cluster name %q does not match the regex %s", s, nameRegexp)
	}
}

// MustParseName is ParseName for constants; it panics if s is not a cluster name.
func MustParseName(s string) Name {
	n, err := ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

// FromAnnotations returns the cluster an object says it is in, or the zero Name.
func FromAnnotations(annotations map[string]string) Name {
	value, ok := annotations[AnnotationKey]
	if !ok {
		return Name{}
	}
	n, err := ParseName(value)
	if err != nil {
		return Name{}
	}
	return n
}

// String returns the name as it stands in URLs, keys and annotations.
func (n Name) String() string { return n.value }

// Empty says whether n is the zero Name.
func (n Name) Empty() bool { return n.value == "" }

// IsWildcard says whether n stands for all clusters.
func (n Name) IsWildcard() bool { return n == Wildcard }

// IsSystem says whether n is one of the shard-local "system:" clusters.
func (n Name) IsSystem() bool { return strings.HasPrefix(n.value, systemPrefix) }

// Path returns the path that consists of this name alone.
func (n Name) Path() Path { return Path(n) }
