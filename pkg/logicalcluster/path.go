package logicalcluster

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	separator = ":"

	// maxPathLength bounds what is parsed; a path of 63-character segments may be
	// 32 levels deep.
	maxPathLength = 2048
)

var pathRegexp = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// Path is a colon-separated way to a workspace. Its first segment is the name of
// a logical cluster, those that follow are names of Workspace objects. A path that
// starts with "system:" has one segment. The zero Path is "no path".
type Path struct{ value string }

// ParsePath returns the path that s spells, or an error that says which rule s
// breaks. The wildcard "*" is a path.
func ParsePath(s string) (Path, error) {
	switch {
	case s == Wildcard.value:
		return Path(Wildcard), nil
	case len(s) > maxPathLength:
		return Path{}, fmt.Errorf("workspace path of %d characters is too long, at most %d are allowed", len(s), maxPathLength)
	case strings.HasPrefix(s, systemPrefix):
		n, err := ParseName(s)
		return Path(n), err
	case pathRegexp.MatchString(s):
		return Path{s}, nil
	default:
		return Path{}, fmt.Errorf("workspace path %q does not match the regex %s", s, pathRegexp)
	}
}

// MustParsePath is ParsePath for constants; it panics if s is not a path.
func MustParsePath(s string) Path {
	p, err := ParsePath(s)
	if err != nil {
		panic(err)
	}
	return p
}

// String returns the path as it stands in URLs and annotations.
func (p Path) String() string { return p.value }

// Empty says whether p is the zero Path.
func (p Path) Empty() bool { return p.value == "" }

// IsSystem says whether p names a "system:" cluster.
func (p Path) IsSystem() bool { return strings.HasPrefix(p.value, systemPrefix) }

// Name returns the cluster that p names by itself, without a look-up: that of a
// path of one segment. ok is false for longer paths and for segments that are no
// cluster name.
func (p Path) Name() (name Name, ok bool) {
	if p == Path(Wildcard) {
		return Wildcard, true
	}
	name, err := ParseName(p.value)
	return name, err == nil
}

// Segments returns the parts of the path; a system path is one segment, the zero
// Path has none.
func (p Path) Segments() []string {
	switch {
	case p.Empty():
		return nil
	case p.IsSystem():
		return []string{p.value}
	default:
		return strings.Split(p.value, separator)
	}
}

// Join returns the path of the child workspace called name. The caller vouches for
// name being a valid workspace name.
func (p Path) Join(name string) Path {
	if p.Empty() {
		return Path{name}
	}
	return Path{p.value + separator + name}
}

// Parent returns the path without its last segment. ok is false for a path of one
// segment, which has no parent.
func (p Path) Parent() (parent Path, ok bool) {
	if p.IsSystem() {
		return Path{}, false
	}
	i := strings.LastIndex(p.value, separator)
	if i < 0 {
		return Path{}, false
	}
	return Path{p.value[:i]}, true
}

// Base returns the last segment.
func (p Path) Base() string {
	if p.IsSystem() {
		return p.value
	}
	return p.value[strings.LastIndex(p.value, separator)+1:]
}
