package home

import (
	"fmt"
	"math"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Bounds of the fields of Buckets.
const (
	maxLevels = 5
	maxSize   = 4
)

const (
	// possibleNames is how many names of users buckets are made for.
	possibleNames = letters * ((letters + 10 + 2) * 61) * (letters + 10)

	// A workspace is best listed with at most so many others beside it, and a bucket worth
	// having with at least so many users in it.
	mostInBucket = 1000
	leastUsers   = 5
)

// Validate says which fields are out of bounds.
func (b Buckets) Validate() []error {
	var all []error
	parent, ok := b.Root.Parent()
	if !ok || parent != logicalcluster.Root.Path() {
		all = append(all, fmt.Errorf("the root of homes is a child of root, such as root:users, and not %q", b.Root))
	}
	if b.Levels < 1 || b.Levels > maxLevels {
		all = append(all, fmt.Errorf("homes are below 1 to %d levels of buckets, and not %d", maxLevels, b.Levels))
	}
	if b.Size < 1 || b.Size > maxSize {
		all = append(all, fmt.Errorf("the names of buckets have 1 to %d letters, and not %d", maxSize, b.Size))
	}
	return all
}

// CheckBalance says what is wrong with how users would be spread: too many buckets or users
// in one bucket, or hardly a user in any.
func (b Buckets) CheckBalance() error {
	inBucket := math.Pow(letters, float64(b.Size))
	users := possibleNames / math.Pow(inBucket, float64(b.Levels))
	switch {
	case inBucket > mostInBucket:
		return fmt.Errorf("names of %d letters make %.0f buckets in one, which are more than %d", b.Size, inBucket, mostInBucket)
	case math.Ceil(users) > mostInBucket:
		return fmt.Errorf("%d levels of names of %d letters leave %.0f users to a bucket, which are more than %d", b.Levels, b.Size, users, mostInBucket)
	case math.Ceil(users) < leastUsers:
		return fmt.Errorf("%d levels of names of %d letters leave %.2g users to a bucket, which are fewer than %d", b.Levels, b.Size, users, leastUsers)
	default:
		return nil
	}
}
