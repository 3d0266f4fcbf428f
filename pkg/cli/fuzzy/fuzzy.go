// Package fuzzy says how well what somebody types fits a workspace path. It is pure.
//
// What is typed fits if its characters are in the path, in their order, whatever their
// case. Of several ways to find them the best one counts. Good are characters at the
// start of a segment, those that follow each other, and those in the last segment, for
// that is how people think of a workspace; a path that ends soon after is better than one
// that goes on.
package fuzzy

import "strings"

// What characters are worth. Gaps cost less than any match is worth, so a path that has
// what was typed is never worse than nothing.
const (
	worthMatch        = 16
	worthSegmentStart = 24
	worthWordStart    = 12
	worthConsecutive  = 14
	worthLastSegment  = 1
	worthWhole        = 60
	costGap           = 1
	mostRest          = 12
)

// none is less than any score.
const none = -1 << 30

// Match says how well query fits candidate, and the positions of the bytes of candidate
// that it was found at, in their order. ok is false if it does not fit. The empty query
// fits everything, with a score of 0.
func Match(query, candidate string) (score int, positions []int, ok bool) {
	if query == "" {
		return 0, nil, true
	}
	q, c := lower(query), lower(candidate)
	if !isSubsequence(q, c) {
		return 0, nil, false
	}
	worth := worths(c)
	// best[i][j] is the best score with q[i] found at c[j].
	best := make([][]int, len(q))
	from := make([][]int, len(q))
	for i := range len(q) {
		best[i], from[i] = row(q[i], c, worth, i, best)
	}
	end := argmax(best[len(q)-1])
	score = best[len(q)-1][end] - rest(c[end+1:])
	positions = make([]int, len(q))
	if q == c || strings.HasSuffix(c, ":"+q) {
		for i := range positions {
			positions[i] = len(c) - len(q) + i
		}
		return score + worthWhole, positions, true
	}
	for i, j := len(q)-1, end; i >= 0; i-- {
		positions[i] = j
		j = from[i][j]
	}
	return score, positions, true
}

// row returns the best scores with char, the i-th one of the query, at each place of c,
// and where the one before it is then.
func row(char byte, c string, worth []int, i int, best [][]int) (scores, from []int) {
	scores, from = make([]int, len(c)), make([]int, len(c))
	// reach is the best score of those before that are not the neighbor, less the gap.
	reach, reachAt := none, 0
	for j := range len(c) {
		scores[j] = none
		if i > 0 && j >= 2 {
			// The gap to each that is in reach grows by one, up to a bound that keeps
			// far ends of long paths worth something.
			reach = max(reach-costGap, none)
			if s := best[i-1][j-2] - costGap; s > reach {
				reach, reachAt = s, j-2
			}
		}
		if c[j] != char {
			continue
		}
		if i == 0 {
			scores[j] = worth[j]
			continue
		}
		s, at := reach, reachAt
		if j > 0 && best[i-1][j-1] > none && best[i-1][j-1]+worthConsecutive >= s {
			s, at = best[i-1][j-1]+worthConsecutive, j-1
		}
		if s > none/2 {
			scores[j], from[j] = s+worth[j], at
		}
	}
	return scores, from
}

// worths returns what a match at each place of c is worth.
func worths(c string) []int {
	worth := make([]int, len(c))
	last := strings.LastIndexByte(c, ':') + 1
	for j := range len(c) {
		worth[j] = worthMatch
		switch {
		case j == 0 || c[j-1] == ':':
			worth[j] += worthSegmentStart
		case c[j-1] == '-' || c[j-1] == '.':
			worth[j] += worthWordStart
		}
		if j >= last {
			worth[j] += worthLastSegment
		}
	}
	return worth
}

// rest returns what it costs that a path goes on with after: the rest of a name makes it
// less likely to be meant, and so does each segment that follows.
func rest(after string) int {
	name, below, _ := strings.Cut(after, ":")
	cost := min(len(name), mostRest)
	if below != "" {
		cost += 1 + strings.Count(below, ":")
	}
	return cost
}

// lower returns s with the letters of ASCII in lower case, so that places stay the same.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isSubsequence(q, c string) bool {
	for i := range len(c) {
		if q == "" {
			break
		}
		if c[i] == q[0] {
			q = q[1:]
		}
	}
	return q == ""
}

// argmax returns the last place with the highest score.
func argmax(scores []int) int {
	at := 0
	for j := range scores {
		if scores[j] >= scores[at] {
			at = j
		}
	}
	return at
}
