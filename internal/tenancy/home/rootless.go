package home

import (
	"crypto/sha256"
	"errors"
	"unicode/utf8"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// Root is the first segment of the paths of rootless homes. There is nothing at it.
	Root = "user"

	// TypeName is the name of the type of homes, in root.
	TypeName = "home"

	separator = ":"

	// hashLength is how many bytes of the hash of a user's name make the name of his home.
	hashLength = 8
)

// CheckUser says what keeps a user of that name from having a home, whatever the layout.
func CheckUser(username string) error {
	switch {
	case username == "":
		return errors.New("a user without a name has no home workspace")
	case !utf8.ValidString(username):
		// It would not be the same any more after it has been stored.
		return errors.New("the user name is not valid UTF-8, so it cannot have a home workspace")
	default:
		return nil
	}
}

// Cluster returns the name of the logical cluster that is the rootless home of a user.
func Cluster(username string) logicalcluster.Name {
	sum := sha256.Sum224([]byte(username))
	return logicalcluster.MustParseName(logicalcluster.Base36(sum[:hashLength]))
}

// Path returns the canonical path of the rootless home of a user: user:<name> where that is
// a path that leads there, and the name of the cluster otherwise.
func Path(username string) logicalcluster.Path {
	path, err := logicalcluster.ParsePath(Root + separator + username)
	if err != nil || len(path.Segments()) != 2 {
		return Cluster(username).Path()
	}
	return path
}

// Find returns the home that the segments of a path lead to, and those that follow. ok is
// false for paths that do not begin at a rootless home. Nobody has looked whether there is
// such a home.
func Find(segments []string) (cluster logicalcluster.Name, rest []string, ok bool) {
	if len(segments) < 2 || segments[0] != Root {
		return logicalcluster.Name{}, nil, false
	}
	return Cluster(segments[1]), segments[2:], true
}
