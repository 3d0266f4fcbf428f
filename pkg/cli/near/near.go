// Package near finds the names that somebody who mistyped one may have meant.
package near

import (
	"slices"
	"strings"
)

const (
	// maxDistance is how many characters may be wrong.
	maxDistance = 2
	// maxNames is how many suggestions are worth reading.
	maxNames = 3
)

// Names returns those of candidates that are close to typed, the closest first, at
// most three. Close is what differs in at most two characters, or what contains the
// characters of typed in their order.
func Names(typed string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	var matches []match
	for _, name := range candidates {
		d := distance(typed, name)
		// A name of two characters is two mistakes away from every other such name.
		if (d <= maxDistance && d < len(typed)) || isSubsequence(typed, name) {
			matches = append(matches, match{name: name, distance: d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, m := range matches[:min(len(matches), maxNames)] {
		names = append(names, m.name)
	}
	return names
}

// isSubsequence says whether all characters of part are in whole, in their order.
func isSubsequence(part, whole string) bool {
	if part == "" {
		return false
	}
	for _, r := range whole {
		if part == "" {
			break
		}
		if strings.HasPrefix(part, string(r)) {
			part = part[len(string(r)):]
		}
	}
	return part == ""
}

// distance returns how many characters have to be added, removed or replaced to turn
// a into b (Levenshtein). Workspace names are ASCII.
func distance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current := make([]int, len(b)+1)
		current[0] = i + 1
		for j := range len(b) {
			replace := previous[j]
			if a[i] != b[j] {
				replace++
			}
			current[j+1] = min(replace, previous[j+1]+1, current[j]+1)
		}
		previous = current
	}
	return previous[len(b)]
}
