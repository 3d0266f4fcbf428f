package can

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/display"
)

// about is the kind of what the document is about.
const about = "type"

// rule is what an answer depends on.
type rule string

// The rules, in the order in which the server applies them. ruleServer stands for all of
// them, where only the server can see what they are about.
const (
	ruleCreate rule = "may create"
	ruleUse    rule = "may use"
	rulePlace  rule = "placement"
	ruleServer rule = "server"
)

var rules = []rule{ruleCreate, ruleUse, rulePlace}

// reason is why the answer is no.
type reason struct {
	rule    rule
	message string
}

// verdict is the answer.
type verdict struct {
	// subject is the type, under the workspace that the new one would be in.
	subject, under string
	// yes says what can be done, if there are no reasons why not.
	yes     string
	reasons []reason
}

// print shows the verdict to people: a word, and what it depends on.
func (v verdict) print(w io.Writer, d display.Display) error {
	if len(v.reasons) == 0 {
		_, err := fmt.Fprintf(w, "%s  %s\n", d.Style(display.OK, "yes"), display.Line(v.yes))
		return err
	}
	word := d.Style(display.Failed, "no") + "   "
	for _, r := range v.reasons {
		if _, err := fmt.Fprintf(w, "%s%s\n", word, display.Line(r.message)); err != nil {
			return err
		}
		word = "     "
	}
	return nil
}

// diagnosis returns the verdict for programs.
func (v verdict) diagnosis(now time.Time) *diagnosis.Diagnosis {
	d := diagnosis.New(about, v.subject, now)
	d.In = v.under
	shown := rules
	if slices.ContainsFunc(v.reasons, func(r reason) bool { return r.rule == ruleServer }) {
		shown = []rule{ruleServer}
	}
	for _, rule := range shown {
		check := diagnosis.Check{Name: string(rule), State: diagnosis.OK}
		for _, r := range v.reasons {
			if r.rule == rule {
				check.State, check.Message = diagnosis.Failed, r.message
			}
		}
		d.Add(check)
	}
	for _, r := range v.reasons {
		d.Block(r.message)
	}
	return d
}
