package model

import "time"

// Aspect is a part of the details of a workspace, in the order of the tabs.
type Aspect int

// The aspects.
const (
	Overview Aspect = iota
	Bindings
	Exports
	Events
	YAML
	aspects
)

// String returns the title of the tab.
func (a Aspect) String() string {
	return [...]string{"Overview", "Bindings", "Exports", "Events", "YAML"}[a]
}

// Details are what there is to say about one workspace.
type Details struct {
	Facts      Facts
	Conditions []Condition
	Bindings   []Binding
	Exports    []Export
	Events     []Event
	YAML       string
}

// Facts are the top of the overview. What is not known is empty.
type Facts struct {
	Type, Phase, Cluster, Shard, Default, By, Description, URL string
	Created                                                    time.Time
	// Waiting are initializers or terminators that are not done.
	Waiting []string
}

// Condition is a condition of a workspace.
type Condition struct {
	// State is ok, waiting, failed or unknown.
	State   State
	Name    string
	Message string
	Since   time.Time
}

// State is how something is.
type State string

// The states, as they are written.
const (
	OK      State = "ok"
	Waiting State = "waiting"
	Failed  State = "failed"
	Unknown State = "unknown"
)

// Binding is an APIBinding.
type Binding struct {
	Name, Export string
	// Phase is empty when it is bound.
	Phase     string
	Resources []string
	// Open is how many claims have no answer.
	Open int
}

// Export is an APIExport.
type Export struct {
	Name, Identity string
	Resources      []string
	// Slices are its endpoint slices, Endpoints how many addresses they have.
	Slices    []string
	Endpoints int
}

// Event is an event.
type Event struct {
	At                       time.Time
	Warning                  bool
	Reason, Subject, Message string
	Count                    int
}
