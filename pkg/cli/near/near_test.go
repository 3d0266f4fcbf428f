package near

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason     string
		typed      string
		candidates []string
		want       []string
	}{
		"Missing":     {"a missing letter is one mistake, and the rest of a longer name may be missing", "paymnts", []string{"payments-eu", "lab", "payments"}, []string{"payments", "payments-eu"}},
		"Swapped":     {"two swapped letters are two mistakes", "taem", []string{"team"}, []string{"team"}},
		"TooFar":      {"three mistakes are another name", "abcdef", []string{"abcxyz"}, nil},
		"Abbreviated": {"an abbreviation has the letters in their order", "prd", []string{"production", "sandbox"}, []string{"production"}},
		"Short":       {"short names are not near each other only because they are short", "ab", []string{"xy", "b"}, []string{"b"}},
		"AtMostThree": {"more are not read", "team", []string{"team1", "team2", "team3", "team4"}, []string{"team1", "team2", "team3"}},
		"Nothing":     {"nothing was typed", "", []string{"a"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Names(tc.typed, tc.candidates); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
