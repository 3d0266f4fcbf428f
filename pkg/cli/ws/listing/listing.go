// Package listing is the document in which commands list workspaces: a WorkspaceList of
// the group cli.kcp.io. An item says where a workspace is, which the Workspace itself
// does not, and what else is known of it; what a command does not know is left out.
package listing

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// List is the document.
type List struct {
	metav1.TypeMeta `json:",inline"`

	Items []Item `json:"items"`
}

// Item is a workspace in a List.
type Item struct {
	// Name is the last name in the path.
	Name string `json:"name"`
	// Path is the way to the workspace from the top.
	Path string `json:"path"`
	// Type is the type, as <path>:<name>.
	Type string `json:"type,omitempty"`
	// Phase is the stage of life that the workspace is in.
	Phase corev1alpha1.Phase `json:"phase,omitempty"`
	// Cluster is the identifier of the logical cluster.
	Cluster string `json:"cluster,omitempty"`
	// Shard is the shard that the workspace is on.
	Shard string `json:"shard,omitempty"`
	// URL is the address of the workspace, as the server gives it.
	URL string `json:"url,omitempty"`
	// Mount is what is mounted, as <kind>/<name>; mounted workspaces have no type.
	Mount string `json:"mount,omitempty"`
	// Labels are those of the Workspace.
	Labels map[string]string `json:"labels,omitempty"`
	// Created is when the workspace was created.
	Created *metav1.Time `json:"created,omitempty"`
	// Pin is the name of the pin that leads there.
	Pin string `json:"pin,omitempty"`
	// Server is the address of the server, where that is not the current one.
	Server string `json:"server,omitempty"`
	// Error says why what is below the workspace could not be listed.
	Error string `json:"error,omitempty"`
}

// Of returns the item of a Workspace in parent.
func Of(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) Item {
	item := At(parent.Join(ws.Name))
	item.Type = Type(ws)
	item.Phase = ws.Status.Phase
	item.Cluster, item.URL = ws.Spec.Cluster, ws.Spec.URL
	item.Shard = ws.Annotations[corev1alpha1.ShardAnnotationKey]
	item.Labels = ws.Labels
	if ws.Spec.Mount != nil {
		item.Mount = ws.Spec.Mount.Reference.Kind + "/" + ws.Spec.Mount.Reference.Name
	}
	if created := ws.CreationTimestamp; !created.IsZero() {
		item.Created = &created
	}
	return item
}

// At returns the item of a workspace of which the path is all that is known.
func At(p logicalcluster.Path) Item { return Item{Name: p.Base(), Path: p.String()} }

// Type returns the type of a Workspace as people write it, "" if it has none.
func Type(ws *tenancyv1alpha1.Workspace) string {
	switch ref := ws.Spec.Type; {
	case ref == nil:
		return ""
	case ref.Path == "":
		return ref.Name
	default:
		return ref.Path + ":" + ref.Name
	}
}

// Print writes the items as the document that was asked for.
func Print(w io.Writer, flags *output.Flags, items []Item) error {
	for _, item := range items {
		var err error
		switch flags.Format {
		case output.Name:
			_, err = fmt.Fprintf(w, "workspace.tenancy.kcp.io/%s\n", item.Name)
		case output.Path:
			_, err = fmt.Fprintf(w, ":%s\n", item.Path)
		default:
			return flags.PrintView(w, document(items))
		}
		if err != nil {
			return err
		}
	}
	if len(items) == 0 && flags.Format != output.Name && flags.Format != output.Path {
		return flags.PrintView(w, document(items))
	}
	return nil
}

func document(items []Item) List {
	if items == nil {
		// A list without items is still a list.
		items = []Item{}
	}
	return List{TypeMeta: output.Meta("WorkspaceList"), Items: items}
}
