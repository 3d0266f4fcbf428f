package prompt

import (
	"testing"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestShort(t *testing.T) {
	home := logicalcluster.MustParsePath("3aymvjlwa46sq")
	cases := map[string]struct {
		reason, path string
		limit        int
		ascii        bool
		want         string
	}{
		"Root":      {reason: "the top is called by its name", path: "root", want: "root"},
		"BelowRoot": {reason: "everybody knows that root is the top", path: "root:acme:payments", want: "acme:payments"},
		"OtherTop":  {reason: "other tops are told", path: "orgs:acme", want: "orgs:acme"},
		"System":    {reason: "so are system clusters", path: "system:admin", want: "system:admin"},
		"Home":      {reason: "home is short", path: "3aymvjlwa46sq", want: "~"},
		"BelowHome": {reason: "and so is what is below", path: "3aymvjlwa46sq:dev", want: "~:dev"},
		"NotHome":   {reason: "a name may begin like home", path: "3aymvjlwa46sqx", want: "3aymvjlwa46sqx"},
		"Fits":      {reason: "nothing goes that has room", path: "root:acme:payments", limit: 13, want: "acme:payments"},
		"Cut":       {reason: "what is in front goes first", path: "root:acme:payments", limit: 12, want: "…:payments"},
		"CutLess":   {reason: "and no more than has to", path: "root:acme:payments:eu", limit: 15, want: "…:payments:eu"},
		"CutASCII":  {reason: "three dots need more room", path: "root:acme:payments", limit: 12, ascii: true, want: "...:payments"},
		"CutName":   {reason: "a long name is cut in the middle", path: "root:acme:payments", limit: 5, want: "pa…ts"},
		"CutHome":   {reason: "home goes like others", path: "3aymvjlwa46sq:dev:test", limit: 8, want: "…:test"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Short(display.Display{ASCII: tc.ascii}, logicalcluster.MustParsePath(tc.path), home, tc.limit)
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
