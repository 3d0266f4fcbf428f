package model

import (
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/fuzzy"
)

// Candidate is a workspace that can be picked.
type Candidate struct {
	// Path leads to it.
	Path string
	// Type and Stage say what it is and how far. They are empty while that is not known.
	Type, Stage string
	// Role is how the stage stands out.
	Role display.Role
	// Pin is the name that the user has given it, if any.
	Pin string
}

// Candidates are what can be picked, in the order in which they were found.
type Candidates struct {
	all   []*Candidate
	known map[string]*Candidate
}

// Add takes in what was found.
func (c *Candidates) Add(found ...Candidate) {
	if c.known == nil {
		c.known = map[string]*Candidate{}
	}
	for _, f := range found {
		if before := c.known[f.Path]; before != nil {
			before.complete(f)
			continue
		}
		c.known[f.Path] = &f
		c.all = append(c.all, &f)
	}
}

// complete takes over from f what is not known yet.
func (c *Candidate) complete(f Candidate) {
	if f.Type != "" {
		c.Type = f.Type
	}
	if f.Stage != "" {
		c.Stage, c.Role = f.Stage, f.Role
	}
	if c.Pin == "" {
		c.Pin = f.Pin
	}
}

// Len returns how many there are.
func (c *Candidates) Len() int { return len(c.all) }

// Match is a candidate that fits what was typed.
type Match struct {
	*Candidate
	// Positions are the bytes of the path that what was typed was found at.
	Positions []int

	score int
}

// Match returns the candidates that fit query, the best ones first. Of equals the shorter
// one is first, then the one that was found first; without a query that is the order.
func (c *Candidates) Match(query string) []Match {
	query = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(query), "/", ":"), ":")
	matches := make([]Match, 0, len(c.all))
	for _, candidate := range c.all {
		if m, ok := candidate.match(query); ok {
			matches = append(matches, m)
		}
	}
	if query != "" {
		slices.SortStableFunc(matches, func(a, b Match) int {
			if a.score != b.score {
				return b.score - a.score
			}
			return len(a.Path) - len(b.Path)
		})
	}
	return matches
}

// match compares the candidate with what was typed. A name that begins with @ is a pin.
func (c *Candidate) match(query string) (Match, bool) {
	if pin, ok := strings.CutPrefix(query, "@"); ok {
		if c.Pin == "" {
			return Match{}, false
		}
		score, _, ok := fuzzy.Match(pin, c.Pin)
		return Match{Candidate: c, score: score}, ok
	}
	score, positions, ok := fuzzy.Match(query, c.Path)
	return Match{Candidate: c, Positions: positions, score: score}, ok
}

// Completed returns query with what all matches go on with. It is query itself if they
// differ there.
func Completed(query string, matches []Match) string {
	if len(matches) == 0 || query == "" || strings.HasPrefix(query, "@") {
		return query
	}
	prefix := matches[0].Path
	for _, m := range matches[1:] {
		prefix = common(prefix, m.Path)
	}
	if _, _, ok := fuzzy.Match(query, prefix); ok {
		return prefix
	}
	return query + continuation(strings.ToLower(query), matches)
}

// continuation returns what follows query in all paths, if all have it as it was typed.
func continuation(query string, matches []Match) string {
	rest := ""
	for i, m := range matches {
		at := strings.LastIndex(m.Path, query)
		if at < 0 {
			return ""
		}
		after := m.Path[at+len(query):]
		if i == 0 {
			rest = after
		}
		rest = common(rest, after)
	}
	return rest
}

// common returns how both a and b begin.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
