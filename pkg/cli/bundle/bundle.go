// Package bundle is what somebody sends who asks for help: a part of the tree of
// workspaces, the objects of kcp in it and what was found out about them, in one file.
//
// Contract:
//
//  1. What is secret does not get in: Add redacts, and there is no other way in.
//  2. The same content gives the same bytes.
//  3. Reading a file that somebody else has made is safe: nothing is unpacked onto disk,
//     and what is too large or not of this form is an error.
//  4. A Bundle answers like a server that has what is in it, so that the tree can be
//     walked offline. What is not in it is "not found".
//
// The file is a tar.gz with bundle.json, the Manifest, and below workspaces/ a folder
// for each workspace, called like its path: <resource>.<group>.json and diagnosis.json.
// Fields and files are only ever added.
package bundle

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Manifest says what is in a bundle, and where it is from.
type Manifest struct {
	metav1.TypeMeta `json:",inline"`

	// Taken is when that was so.
	Taken metav1.Time `json:"taken"`
	// Server is the address of the server, without a password.
	Server string `json:"server"`
	// ClientVersion and ServerVersion are empty where they are not known.
	ClientVersion string `json:"clientVersion,omitempty"`
	ServerVersion string `json:"serverVersion,omitempty"`
	// Start is the path of the topmost workspace in it.
	Start string `json:"start"`
	// Workspaces are those in it, parents first.
	Workspaces []Entry `json:"workspaces"`
}

// Entry is a workspace in a bundle.
type Entry struct {
	Path string `json:"path"`
	// Problems are what could not be read in it, and why.
	Problems []string `json:"problems,omitempty"`
}

// Bundle is a bundle in memory. It may be read by several goroutines at once, but not
// while something is added.
type Bundle struct {
	Manifest Manifest

	workspaces map[string]*content
}

// content is what is in one workspace.
type content struct {
	objects   map[schema.GroupResource][]unstructured.Unstructured
	diagnosis *diagnosis.Diagnosis
}

// New returns a bundle that begins at start and is empty.
func New(start logicalcluster.Path, server string, now time.Time) *Bundle {
	return &Bundle{
		Manifest: Manifest{
			TypeMeta: output.Meta("Bundle"),
			Taken:    metav1.NewTime(now.UTC().Truncate(time.Second)),
			Server:   redactString(server),
			Start:    start.String(),
		},
		workspaces: map[string]*content{},
	}
}

// AddWorkspace adds a workspace without anything in it. problems say what could not be
// read there.
func (b *Bundle) AddWorkspace(p logicalcluster.Path, problems ...string) {
	var clean []string
	for _, problem := range problems {
		clean = append(clean, redactString(problem))
	}
	b.Manifest.Workspaces = append(b.Manifest.Workspaces, Entry{Path: p.String(), Problems: clean})
	b.at(p)
}

// Add adds the objects of a resource in a workspace, redacted. The objects themselves
// stay as they are.
func (b *Bundle) Add(p logicalcluster.Path, resource schema.GroupResource, objects []unstructured.Unstructured) {
	if len(objects) == 0 {
		return
	}
	redacted := make([]unstructured.Unstructured, 0, len(objects))
	for i := range objects {
		redacted = append(redacted, Redact(&objects[i]))
	}
	b.at(p).objects[resource] = redacted
}

// AddDiagnosis adds what was found out about a workspace, redacted.
func (b *Bundle) AddDiagnosis(p logicalcluster.Path, d *diagnosis.Diagnosis) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	if text, err = json.Marshal(redactValue("", value)); err != nil {
		return err
	}
	clean := &diagnosis.Diagnosis{}
	if err := json.Unmarshal(text, clean); err != nil {
		return err
	}
	b.at(p).diagnosis = clean
	return nil
}

// Diagnosis returns what was found out about a workspace, nil if nobody asked.
func (b *Bundle) Diagnosis(p logicalcluster.Path) *diagnosis.Diagnosis {
	if c := b.workspaces[p.String()]; c != nil {
		return c.diagnosis
	}
	return nil
}

// Resources returns the resources that there are objects of in a workspace, sorted.
func (b *Bundle) Resources(p logicalcluster.Path) []schema.GroupResource {
	c := b.workspaces[p.String()]
	if c == nil {
		return nil
	}
	return c.resources()
}

func (c *content) resources() []schema.GroupResource {
	var resources []schema.GroupResource
	for resource := range c.objects {
		resources = append(resources, resource)
	}
	slices.SortFunc(resources, func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) })
	return resources
}

// Objects returns the objects of a resource in a workspace. They are shared.
func (b *Bundle) Objects(p logicalcluster.Path, resource schema.GroupResource) []unstructured.Unstructured {
	if c := b.workspaces[p.String()]; c != nil {
		return c.objects[resource]
	}
	return nil
}

// at returns what is in a workspace, and makes room for it.
func (b *Bundle) at(p logicalcluster.Path) *content {
	c := b.workspaces[p.String()]
	if c == nil {
		c = &content{objects: map[schema.GroupResource][]unstructured.Unstructured{}}
		b.workspaces[p.String()] = c
	}
	return c
}
