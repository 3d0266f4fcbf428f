package home

import (
	"crypto/sha1" //nolint:gosec // because it spreads users over buckets, and guards nothing
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The names of the types, in root, of the workspace that all buckets are below, and of
// buckets.
const (
	RootTypeName   = "homeroot"
	BucketTypeName = "homebucket"
)

const (
	// maxNameLength is that of names of workspaces.
	maxNameLength = 63

	letters = 'z' - 'a' + 1
)

// Buckets is a layout of homes below root. It is valid if Validate says so.
type Buckets struct {
	// Root is the path of the workspace that all homes are below, a child of root.
	Root logicalcluster.Path
	// Levels is how many buckets there are above each home.
	Levels int
	// Size is how many letters the name of a bucket has.
	Size int
}

// Path returns the path of the home of a user. The error says why a user of that name can
// have none.
func (b Buckets) Path(username string) (logicalcluster.Path, error) {
	if err := CheckUser(username); err != nil {
		return logicalcluster.Path{}, err
	}
	name, err := workspaceName(username)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	path := b.Root
	digest := sha1.Sum([]byte(username)) //nolint:gosec // because addresses of homes are made with it
	for level := range b.Levels {
		path = path.Join(bucketName(binary.BigEndian.Uint32(digest[level:]), b.Size))
	}
	return path.Join(name), nil
}

// bucketName writes n with letters as digits, the least significant first, cut to size.
func bucketName(n uint32, size int) string {
	name := make([]byte, size)
	for i := range name {
		name[i] = byte('a' + n%letters)
		n /= letters
	}
	return string(name)
}

// workspaceName makes the name of a workspace of that of a user: what it must not have
// becomes "-", and it begins with a letter.
func workspaceName(username string) (string, error) {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, username)
	name = strings.TrimLeftFunc(name, func(r rune) bool { return r <= '9' })
	name = strings.TrimRight(name, "-")
	switch {
	case name == "":
		return "", fmt.Errorf("the user name %q has no letter from a to z, so no home workspace can be named after it", username)
	case len(name) > maxNameLength:
		return "", fmt.Errorf("the user name %q makes a name of %d characters for a home workspace, and at most %d are allowed",
			username, len(name), maxNameLength)
	default:
		return name, nil
	}
}

// Holds says whether path is where a bucket or a home may be: below Root, and not deeper
// than homes are.
func (b Buckets) Holds(path logicalcluster.Path) bool {
	below, ok := strings.CutPrefix(path.String(), b.Root.String()+separator)
	return ok && strings.Count(below, separator) <= b.Levels
}

// Leads says whether path is that of a home, or of something on the way to it.
func Leads(path, to logicalcluster.Path) bool {
	return path == to || strings.HasPrefix(to.String(), path.String()+separator)
}
