package tour

import "testing"

func TestTourMatching(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   []string
		lines  []string
		match  bool
	}{
		"Nothing":         {reason: "a silent command", match: true},
		"Unexpected":      {reason: "the document promises silence", lines: []string{"a"}},
		"Same":            {reason: "as printed", want: []string{"a.b"}, lines: []string{"a.b"}, match: true},
		"NoPattern":       {reason: "only the ellipsis is special", want: []string{"a.b"}, lines: []string{"axb"}},
		"Columns":         {reason: "widths differ with the content", want: []string{"a   b"}, lines: []string{"a     b"}, match: true},
		"EllipsisInLine":  {reason: "ages differ", want: []string{"a …"}, lines: []string{"a 3s"}, match: true},
		"EllipsisLines":   {reason: "progress may be quick or slow", want: []string{"…", "b"}, lines: []string{"x", "y", "b"}, match: true},
		"EllipsisNothing": {reason: "no progress at all is fine, too", want: []string{"…", "b"}, lines: []string{"b"}, match: true},
		"Missing":         {reason: "a line less is a difference", want: []string{"a", "b"}, lines: []string{"a"}},
		"BlankEnd":        {reason: "nobody sees blank lines at the end", want: []string{"a", ""}, lines: []string{"a"}, match: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := matches(tc.want, tc.lines); got != tc.match {
				t.Errorf("%s: matches(%q, %q) is %v", tc.reason, tc.want, tc.lines, got)
			}
		})
	}
}
