package status

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/table"
)

// ServerStatus is the document about a server.
type ServerStatus struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata has the identifier of the server as its name, or the process if it has none.
	Metadata metadata `json:"metadata"`
	// URL is where it serves.
	URL string `json:"url,omitempty"`
	// PID is its process.
	PID int `json:"pid"`
	// Version is the version of kcp.
	Version string `json:"version,omitempty"`
	// Ready says that it answers, and is ready.
	Ready bool `json:"ready"`
	// Started is when it did.
	Started metav1.Time `json:"started"`
	// Uptime is for how long it has been running, and UptimeSeconds the same for programs.
	Uptime        string `json:"uptime"`
	UptimeSeconds int64  `json:"uptimeSeconds"`
	// MemoryBytes is how much memory it has; missing if it does not say.
	MemoryBytes *int64 `json:"memoryBytes,omitempty"`
	// Workspaces is how many there are; missing if it does not say.
	Workspaces *int64 `json:"workspaces,omitempty"`
	// RootDirectory is its root directory; missing without one.
	RootDirectory string `json:"rootDirectory,omitempty"`
	// Kubeconfig is the kubeconfig of its admins; missing if they have none.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

type metadata struct {
	Name string `json:"name"`
}

// list is the document about several servers.
type list struct {
	metav1.TypeMeta `json:",inline"`
	Items           []ServerStatus `json:"items"`
}

func newList(views []ServerStatus) list {
	return list{TypeMeta: output.Meta("ServerStatusList"), Items: views}
}

// newView puts together what is known of a server.
func newView(server running.Server, said answer, now time.Time) ServerStatus {
	uptime := max(now.Sub(server.Started), 0)
	return ServerStatus{
		TypeMeta:      output.Meta("ServerStatus"),
		Metadata:      metadata{Name: cmp.Or(server.ID, "pid-"+strconv.Itoa(server.PID))},
		URL:           server.URL,
		PID:           server.PID,
		Version:       server.Version,
		Ready:         said.ready,
		Started:       metav1.NewTime(server.Started.UTC().Truncate(time.Second)),
		Uptime:        duration.HumanDuration(uptime),
		UptimeSeconds: int64(uptime / time.Second),
		MemoryBytes:   said.memory,
		Workspaces:    said.workspaces,
		RootDirectory: server.RootDirectory,
		Kubeconfig:    server.Kubeconfig,
	}
}

// unknown stands for what a server does not say.
const unknown = "unknown"

// url is where a server serves, with what is wrong about that.
func (s *ServerStatus) url() string {
	switch {
	case s.URL == "":
		return "starting"
	case s.Ready || s.Kubeconfig == "":
		return s.URL
	default:
		return s.URL + " (not ready)"
	}
}

func (s *ServerStatus) memory() string {
	if s.MemoryBytes == nil {
		return unknown
	}
	return fmt.Sprintf("%d MiB", *s.MemoryBytes>>20)
}

func (s *ServerStatus) workspaces() string {
	if s.Workspaces == nil {
		return unknown
	}
	return strconv.FormatInt(*s.Workspaces, 10)
}

func (s *ServerStatus) rootDirectory() string { return cmp.Or(s.RootDirectory, "none") }

// writeOne writes a line for each thing that there is to know. Nothing is cut: paths are
// to be copied.
func writeOne(w io.Writer, s ServerStatus) error {
	for _, line := range []struct{ name, value string }{
		{"URL", s.url()},
		{"PID", strconv.Itoa(s.PID)},
		{"Version", s.Version},
		{"Uptime", s.Uptime},
		{"Memory", s.memory()},
		{"Workspaces", s.workspaces()},
		{"Root directory", s.rootDirectory()},
	} {
		if _, err := fmt.Fprintf(w, "%-16s%s\n", line.name+":", display.Line(line.value)); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes a line for each server.
func writeAll(w io.Writer, look display.Display, noHeaders bool, all []ServerStatus) error {
	rows := table.New(look,
		table.Column{Title: "ID", Shrink: table.Whole}, table.Column{Title: "PID", Shrink: table.Drop}, table.Column{Title: "URL"},
		table.Column{Title: "UPTIME", Shrink: table.Drop}, table.Column{Title: "MEMORY", Shrink: table.Drop},
		table.Column{Title: "WORKSPACES", Shrink: table.Drop}, table.Column{Title: "VERSION", Shrink: table.Drop},
		table.Column{Title: "ROOT DIRECTORY", Shrink: table.Cut})
	rows.NoHeaders = noHeaders
	for _, s := range all {
		rows.Row(s.Metadata.Name, strconv.Itoa(s.PID), s.url(), s.Uptime, s.memory(), s.workspaces(), s.Version, s.rootDirectory())
	}
	return rows.Print(w)
}
