package ephemeral

import (
	"context"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/binding"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// mostDiagnoses is how many things are diagnosed: what is wrong with many is mostly the same.
const mostDiagnoses = 50

// survey is what there is in the workspace of the command and below, and what is stuck there.
type survey struct {
	objects strings.Builder
	stuck   []*diagnosis.Diagnosis
	// unread are the things that could not be read.
	unread strings.Builder
}

// survey asks the server for everything.
func (p *plane) survey(ctx context.Context) *survey {
	s := &survey{}
	tree, err := walk.Walk(ctx, p.client, p.options.workspace, walk.Options{Deleting: true})
	if err != nil {
		s.unread.WriteString(unread(p.options.workspace.String(), err))
		// What is above may say why.
		p.diagnoseWorkspace(ctx, s, p.options.workspace)
		return s
	}
	for _, n := range tree.All() {
		p.readWorkspace(ctx, s, n.Path)
		p.diagnoseWorkspace(ctx, s, n.Path)
		p.diagnoseBindings(ctx, s, n.Path)
	}
	return s
}

// readWorkspace reads all objects of a workspace.
func (p *plane) readWorkspace(ctx context.Context, s *survey, at logicalcluster.Path) {
	fmt.Fprintf(&s.objects, "# workspace %s\n", at)
	resources, err := p.client.Resources(ctx, at)
	if err != nil {
		s.objects.WriteString(unread("its resources", err))
		return
	}
	config := rest.CopyConfig(p.config)
	config.Host, config.QPS = p.base+"/clusters/"+at.String(), -1
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		s.objects.WriteString(unread("its objects", err))
		return
	}
	for _, resource := range resources {
		if resource.Group == "events.k8s.io" {
			continue // these are the events of the core group once more
		}
		list, err := objects.Resource(resource).List(ctx, metav1.ListOptions{})
		switch {
		case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
			continue
		case err != nil:
			s.objects.WriteString(unread(resource.GroupResource().String(), err))
			continue
		}
		for i := range list.Items {
			s.add(&list.Items[i])
		}
	}
}

// add adds an object, without what is secret in it.
func (s *survey) add(object *unstructured.Unstructured) {
	clean := bundle.Redact(object)
	text, err := yaml.Marshal(clean.Object)
	if err != nil {
		s.objects.WriteString(unread(object.GetKind()+" "+object.GetName(), err))
		return
	}
	s.objects.WriteString("---\n")
	s.objects.Write(text)
}

func (p *plane) diagnoseWorkspace(ctx context.Context, s *survey, at logicalcluster.Path) {
	d, err := workspace.Diagnose(ctx, p.client, at)
	s.diagnosed(d, err, at.String())
}

// diagnoseBindings finds out about the bindings of a workspace that are not bound.
func (p *plane) diagnoseBindings(ctx context.Context, s *survey, at logicalcluster.Path) {
	bindings, err := p.client.Bindings(ctx, at)
	if err != nil {
		s.unread.WriteString(unread("bindings of "+at.String(), err))
	}
	for i := range bindings {
		b := &bindings[i]
		if b.Status.Phase == apisv1alpha2.APIBindingPhaseBound && b.DeletionTimestamp == nil {
			continue
		}
		d, err := binding.Diagnose(ctx, p.client, at, b.Name)
		s.diagnosed(d, err, "apibinding "+b.Name+" in "+at.String())
	}
}

// diagnosed remembers a diagnosis, if something is wrong.
func (s *survey) diagnosed(d *diagnosis.Diagnosis, err error, what string) {
	switch {
	case err != nil:
		s.unread.WriteString(unread("why "+what+" is as it is", err))
	case d.Err() != nil && len(s.stuck) < mostDiagnoses:
		s.stuck = append(s.stuck, d)
	}
}

func (s *survey) writeObjects(w io.Writer) error {
	_, err := io.WriteString(w, s.objects.String())
	return err
}

// writeWhy writes what is stuck, as "kubectl ws why" would.
func (s *survey) writeWhy(w io.Writer) error {
	var text strings.Builder
	for i, d := range s.stuck {
		if i > 0 {
			text.WriteString("\n")
		}
		d.Print(&text, display.Display{})
	}
	if len(s.stuck) == 0 {
		text.WriteString("nothing is stuck\n")
	}
	text.WriteString(s.unread.String())
	_, err := io.WriteString(w, text.String())
	return err
}
