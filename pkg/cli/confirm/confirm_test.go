package confirm

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/run"
)

// keyboard and screen are a terminal.
type (
	keyboard struct{ io.Reader }
	screen   struct{ bytes.Buffer }
)

func (keyboard) IsTerminal() bool { return true }
func (*screen) IsTerminal() bool  { return true }

func TestConfirm(t *testing.T) {
	const asked = "3 objects\nType payments to delete all of this: "
	cases := map[string]struct {
		reason    string
		args      []string
		typed     string
		terminal  bool
		protected string
		said      string
		refuse    string
	}{
		"Typed":          {reason: "the name is the answer", terminal: true, typed: "payments\n", said: asked},
		"OtherName":      {reason: "nothing else is", terminal: true, typed: "y\n", said: asked, refuse: "that is not the name, so nothing was deleted"},
		"Nobody":         {reason: "the flag is named where nobody can be asked", refuse: "deleting payments has to be confirmed, and there is nobody to ask"},
		"Yes":            {reason: "a script has answered", args: []string{"--yes"}},
		"YesTrue":        {reason: "as it does with other flags", args: []string{"--yes=true"}},
		"YesNot":         {reason: "and can take back", args: []string{"--yes=false"}, refuse: "deleting payments has to be confirmed, and there is nobody to ask"},
		"YesName":        {reason: "a name is the safer answer", args: []string{"--yes=a,payments"}},
		"YesOther":       {reason: "for it holds for that alone", args: []string{"--yes=a"}, refuse: "--yes=a does not name payments, so nothing was deleted"},
		"Protected":      {reason: "what is protected is not deleted with the rest", args: []string{"--yes"}, protected: "billing", refuse: "payments is protected: billing"},
		"ProtectedTyped": {reason: "not even by typing its name", terminal: true, typed: "payments\n", protected: "billing", refuse: "payments is protected: billing"},
		"ProtectedName":  {reason: "but by its name in the flag", args: []string{"--yes=payments"}, protected: "billing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			flags := &Flags{}
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.AddFlags(set)
			if err := set.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			var plain bytes.Buffer
			var terminal screen
			streams := run.Streams{In: strings.NewReader(tc.typed), ErrOut: &plain}
			if tc.terminal {
				streams = run.Streams{In: keyboard{strings.NewReader(tc.typed)}, ErrOut: &terminal}
			}
			err := flags.Confirm(t.Context(), streams, "payments", tc.protected, "3 objects\n")
			if got := errorText(err); got != tc.refuse {
				t.Errorf("%s: the error is %q, want %q", tc.reason, got, tc.refuse)
			}
			if got := plain.String() + terminal.String(); got != tc.said {
				t.Errorf("%s: it said %q, want %q", tc.reason, got, tc.said)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
