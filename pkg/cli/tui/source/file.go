package source

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// never is when what is not in a file is looked for again.
const never = 1000 * time.Hour

// File is a bundle, a file that was written of a server. Nothing in it changes.
type File struct {
	Bundle *bundle.Bundle
}

// Watch tells what is below a workspace, once.
func (f *File) Watch(ctx context.Context, w model.Watch, emit func(model.Msg)) {
	found, err := f.Bundle.Workspaces(ctx, w.Path)
	if err != nil {
		emit(model.Lost{Seq: w.Seq, Why: model.Hidden, Problem: "it is not in the file", Retry: time.Now().Add(never)})
		return
	}
	items := make([]model.Item, len(found))
	for i := range found {
		items[i] = ItemOf(w.Path, &found[i])
	}
	emit(model.Children{Seq: w.Seq, Items: items, First: true, Last: true})
}

// Describe tells what the file says about a workspace.
func (f *File) Describe(ctx context.Context, d model.Describe, emit func(model.Msg)) {
	parts := map[model.Aspect]func(context.Context, model.Subject, *model.Details) error{
		model.Overview: f.overview,
		model.Bindings: f.bindings,
		model.Exports:  f.exports,
		model.Events:   f.events,
		model.YAML:     f.yaml,
	}
	for aspect, ask := range parts {
		part := model.Part{Seq: d.Seq, Of: aspect}
		if err := ask(ctx, d.Subject, &part.Details); err != nil {
			part.Problem = run.Message(err)
		}
		emit(part)
	}
}

func (f *File) overview(ctx context.Context, subject model.Subject, d *model.Details) error {
	if lc, err := f.Bundle.LogicalCluster(ctx, subject.Path); err == nil {
		addLogicalCluster(d, lc)
	}
	if ws, err := f.Bundle.Workspace(ctx, subject.Parent, subject.Name); err == nil {
		addWorkspace(d, subject.Parent, ws)
	}
	return nil
}

func (f *File) bindings(_ context.Context, subject model.Subject, d *model.Details) error {
	found, err := objects[client.Binding](f.Bundle, subject.Path, apisv1alpha1.Resource("apibindings"))
	for i := range found {
		d.Bindings = append(d.Bindings, bindingOf(&found[i]))
	}
	return err
}

func (f *File) exports(_ context.Context, subject model.Subject, d *model.Details) error {
	slices, err := objects[apisv1alpha1.APIExportEndpointSlice](f.Bundle, subject.Path, endpointSlices.GroupResource())
	if err != nil {
		return err
	}
	found, err := objects[client.Export](f.Bundle, subject.Path, apisv1alpha1.Resource("apiexports"))
	for i := range found {
		d.Exports = append(d.Exports, exportOf(subject.Path, &found[i], slices))
	}
	return err
}

func (f *File) events(_ context.Context, subject model.Subject, d *model.Details) error {
	found, err := objects[event](f.Bundle, subject.Path, events.GroupResource())
	d.Events = eventsOf(found)
	return err
}

func (f *File) yaml(_ context.Context, subject model.Subject, d *model.Details) error {
	for _, object := range f.Bundle.Objects(subject.Parent, tenancyv1alpha1.Resource("workspaces")) {
		if object.GetName() == subject.Name {
			text, err := yamlOf(&object)
			d.YAML = text
			return err
		}
	}
	for _, object := range f.Bundle.Objects(subject.Path, corev1alpha1.Resource("logicalclusters")) {
		text, err := yamlOf(&object)
		d.YAML = text
		return err
	}
	return nil
}

// objects returns what there is of a resource in a workspace, as T reads it.
func objects[T any](b *bundle.Bundle, p logicalcluster.Path, resource schema.GroupResource) ([]T, error) {
	var all []T
	for _, object := range b.Objects(p, resource) {
		encoded, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var one T
		if err := json.Unmarshal(encoded, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
