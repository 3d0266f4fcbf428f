package diagnosis

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
)

// State is how something stands.
type State string

// The states of checks.
const (
	// OK is as it should be.
	OK State = "ok"
	// Waiting is on its way, or would be.
	Waiting State = "waiting"
	// Failed does not work.
	Failed State = "failed"
	// Warning works, but may surprise.
	Warning State = "warning"
	// Unknown could not be found out.
	Unknown State = "unknown"
)

// Further states of details.
const (
	// Done was waited for and is not any more.
	Done State = "done"
	// Accepted, Rejected and Open are the answers to a permission claim.
	Accepted State = "accepted"
	Rejected State = "rejected"
	Open     State = "open"
	// Mismatch is accepted, but something else than what is there.
	Mismatch State = "mismatch"
)

// The kinds of subjects.
const (
	Workspace   = "workspace"
	Binding     = "binding"
	Initializer = "initializer"
	Terminator  = "terminator"
)

// Diagnosis is what was found out about one subject.
type Diagnosis struct {
	metav1.TypeMeta `json:",inline"`

	// About is the kind of the subject.
	About string `json:"about"`
	// Subject is its name: the path of a workspace, the name of anything else.
	Subject string `json:"subject"`
	// In is the path of the workspace that the subject is in, for what is in one.
	In string `json:"in,omitempty"`
	// Phase is where it stands in its life, empty for what has no phases.
	Phase string `json:"phase,omitempty"`
	// Since is when that phase began, if that is known.
	Since *metav1.Time `json:"since,omitempty"`
	// Facts are what else identifies the subject, for people.
	Facts []string `json:"facts,omitempty"`
	// Checks are what was looked at, in order.
	Checks []Check `json:"checks"`
	// Blockers are what the subject cannot get past, the first one first. There are none
	// if nothing is wrong.
	Blockers []Blocker `json:"blockers"`
	// Taken is when this was found out. Ages are counted from there.
	Taken metav1.Time `json:"taken"`
}

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message,omitempty"`
	// Since is when it came to be so, if that is known.
	Since *metav1.Time `json:"since,omitempty"`
	// Next are the steps that mend what is no blocker.
	Next    []string `json:"next,omitempty"`
	Details []Detail `json:"details,omitempty"`
}

// Detail is one of several things that a check is about.
type Detail struct {
	State State  `json:"state,omitempty"`
	Name  string `json:"name"`
	// Cluster and Phase are those of a workspace; details with a cluster are shown as a
	// table.
	Cluster string       `json:"cluster,omitempty"`
	Phase   string       `json:"phase,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	Message string       `json:"message,omitempty"`
	// Notes are further sentences.
	Notes []string `json:"notes,omitempty"`
}

// Blocker is something that the subject cannot get past.
type Blocker struct {
	Message string `json:"message"`
	// Next are the steps that mend it, in order.
	Next []string `json:"next,omitempty"`
}

// List is what was found out about several subjects.
type List struct {
	metav1.TypeMeta `json:",inline"`
	Items           []*Diagnosis `json:"items"`
}

// New returns a diagnosis in which nothing has been looked at, taken at now.
func New(about, subject string, now time.Time) *Diagnosis {
	return &Diagnosis{
		TypeMeta: output.Meta("Diagnosis"),
		About:    about,
		Subject:  subject,
		Checks:   []Check{},
		Blockers: []Blocker{},
		Taken:    metav1.NewTime(now.UTC().Truncate(time.Second)),
	}
}

// NewList returns the diagnoses as one document.
func NewList(items []*Diagnosis) *List {
	return &List{TypeMeta: output.Meta("DiagnosisList"), Items: items}
}

// Names implements output.Named.
func (d *Diagnosis) Names() []string {
	name := d.Subject[strings.LastIndex(d.Subject, ":")+1:]
	switch d.About {
	case Workspace:
		return []string{"workspace.tenancy.kcp.io/" + name}
	case Binding:
		return []string{"apibinding.apis.kcp.io/" + name}
	case Initializer, Terminator:
		return []string{"workspacetype.tenancy.kcp.io/" + name}
	default:
		return []string{d.About + "/" + d.Subject}
	}
}

// Names implements output.Named.
func (l *List) Names() []string {
	var names []string
	for _, d := range l.Items {
		names = append(names, d.Names()...)
	}
	return names
}

// Err returns run.ErrNo if there are blockers.
func (d *Diagnosis) Err() error {
	if len(d.Blockers) > 0 {
		return run.ErrNo
	}
	return nil
}

// Add adds a check.
func (d *Diagnosis) Add(check Check) { d.Checks = append(d.Checks, check) }

// Block adds a blocker with the steps that mend it.
func (d *Diagnosis) Block(message string, next ...string) {
	d.Blockers = append(d.Blockers, Blocker{Message: message, Next: next})
}

// Same says whether both come to the same conclusions: what stands how, and what blocks.
// Messages of checks have ages in them, which do not count.
func (d *Diagnosis) Same(other *Diagnosis) bool {
	return other != nil && slices.Equal(d.conclusions(), other.conclusions())
}

func (d *Diagnosis) conclusions() []string {
	all := []string{d.Subject, d.Phase}
	for _, check := range d.Checks {
		all = append(all, check.Name, string(check.State))
		for _, detail := range check.Details {
			all = append(all, string(detail.State), detail.Name, detail.Phase)
		}
	}
	for _, blocker := range d.Blockers {
		all = append(all, blocker.Message)
		all = append(all, blocker.Next...)
	}
	return all
}
