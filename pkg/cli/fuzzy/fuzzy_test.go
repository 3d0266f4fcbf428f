package fuzzy

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	cases := map[string]struct {
		reason, query, candidate string
		// marked is the candidate with what was found in capitals; "" if it does not fit.
		marked string
	}{
		"Empty":        {"nothing typed fits everything", "", "root:a", "root:a"},
		"Case":         {"case does not matter", "PAY", "root:payments", "root:PAYments"},
		"Subsequence":  {"characters may be apart", "rpm", "root:payments", "Root:PayMents"},
		"Order":        {"but not in another order", "yap", "root:payments", ""},
		"Missing":      {"nor missing", "payx", "root:payments", ""},
		"LastSegment":  {"the last segment is what people mean", "a", "a:b:a", "a:b:A"},
		"SegmentStart": {"characters begin segments", "ap", "root:xap:acme:payments", "root:xap:Acme:Payments"},
		"Consecutive":  {"what was typed in one go stays together", "eu", "root:tea-u:beu", "root:tea-u:bEU"},
		"Colon":        {"a path can be typed", "acme:eu", "root:acme:eu", "root:ACME:EU"},
		"Long":         {"a query longer than the path does not fit", "root:a:b", "root:a", ""},
		"Foreign":      {"paths are ASCII, what is typed need not be", "é", "root:e", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, positions, ok := Match(tc.query, tc.candidate)
			if !ok {
				if tc.marked != "" {
					t.Fatalf("%s: %q does not fit %q", tc.reason, tc.query, tc.candidate)
				}
				return
			}
			marked := []byte(tc.candidate)
			for _, i := range positions {
				marked[i] = strings.ToUpper(string(marked[i]))[0]
			}
			if string(marked) != tc.marked {
				t.Errorf("%s: %q was found at %s, want %s", tc.reason, tc.query, marked, tc.marked)
			}
		})
	}
}

func TestRanking(t *testing.T) {
	cases := map[string]struct {
		reason, query string
		// want are candidates, the best one first.
		want []string
	}{
		"Pay":     {"what begins with it, the shorter the better, before what has it", "pay", []string{"root:acme:payments", "root:acme:payments:eu", "root:lab:payload-tests", "root:lab:repay"}},
		"Whole":   {"a whole name before one that goes on", "eu", []string{"root:acme:eu", "root:acme:eu-west", "root:acme:europe:x"}},
		"Deep":    {"the last segment before one above", "team", []string{"root:org:team", "root:team:org"}},
		"Initial": {"starts of segments before characters in the middle", "ap", []string{"root:acme:payments", "root:map:xxxxx"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := slices.Clone(tc.want)
			slices.Reverse(got)
			slices.SortStableFunc(got, func(a, b string) int {
				x, _, okA := Match(tc.query, a)
				y, _, okB := Match(tc.query, b)
				if !okA || !okB {
					t.Fatalf("%q does not fit %s or %s", tc.query, a, b)
				}
				return y - x
			})
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q gives %v, want %v", tc.reason, tc.query, got, tc.want)
			}
		})
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("pay", "root:acme:payments")
	f.Add("é", "é")
	f.Add("ééé", "root:\xff:é")
	f.Add("a", "")
	f.Fuzz(func(t *testing.T, query, candidate string) {
		if len(query) > 100 || len(candidate) > 1000 {
			return
		}
		_, positions, ok := Match(query, candidate)
		q, c := lower(query), lower(candidate)
		if ok != isSubsequence(q, c) {
			t.Fatalf("%q in %q: ok is %v", query, candidate, ok)
		}
		if !ok || query == "" {
			return
		}
		if len(positions) != len(q) || !slices.IsSorted(positions) || len(slices.Compact(slices.Clone(positions))) != len(q) {
			t.Fatalf("%q in %q: positions %v", query, candidate, positions)
		}
		for i, j := range positions {
			if c[j] != q[i] {
				t.Fatalf("%q in %q: positions %v", query, candidate, positions)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for b.Loop() {
		Match("acpay", "root:organization:acme:platform:payments")
	}
}
