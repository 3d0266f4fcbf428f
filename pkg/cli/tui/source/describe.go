package source

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// mostEvents is how many events are shown, the latest ones.
const mostEvents = 100

// descriptionAnnotation is what people say about a workspace when they create it.
const descriptionAnnotation = "kcp.io/description"

var (
	logicalClusters = schema.GroupVersionResource{Group: corev1alpha1.GroupName, Version: "v1alpha1", Resource: "logicalclusters"}
	workspaces      = schema.GroupVersionResource{Group: tenancyv1alpha1.GroupName, Version: "v1alpha1", Resource: "workspaces"}
	workspaceTypes  = schema.GroupVersionResource{Group: tenancyv1alpha1.GroupName, Version: "v1alpha1", Resource: "workspacetypes"}
	endpointSlices  = schema.GroupVersionResource{Group: "apis.kcp.io", Version: "v1alpha1", Resource: "apiexportendpointslices"}
	events          = schema.GroupVersionResource{Version: "v1", Resource: "events"}
)

// Describe finds out all there is to say about a workspace, its parts at the same time,
// and tells each when it is there.
func (s *Server) Describe(ctx context.Context, d model.Describe, emit func(model.Msg)) {
	parts := map[model.Aspect]func(context.Context, model.Subject, *model.Details) error{
		model.Overview: s.overview,
		model.Bindings: s.bindings,
		model.Exports:  s.exports,
		model.Events:   s.events,
		model.YAML:     s.yaml,
	}
	var asking sync.WaitGroup
	for aspect, ask := range parts {
		asking.Go(func() {
			part := model.Part{Seq: d.Seq, Of: aspect}
			if err := ask(ctx, d.Subject, &part.Details); err != nil {
				part.Problem = run.Message(err)
			}
			if ctx.Err() == nil {
				emit(part)
			}
		})
	}
	asking.Wait()
}

// overview reads the Workspace and the LogicalCluster. Either is enough.
func (s *Server) overview(ctx context.Context, subject model.Subject, d *model.Details) error {
	var (
		ws    *tenancyv1alpha1.Workspace
		wsErr error
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !subject.Parent.Empty() {
			ws, wsErr = s.Client.Workspace(ctx, subject.Parent, subject.Name)
		}
	}()
	lc, lcErr := s.Client.LogicalCluster(ctx, subject.Path)
	<-done
	if ws == nil && lcErr != nil {
		return cmp.Or(wsErr, lcErr)
	}
	if lcErr == nil {
		addLogicalCluster(d, lc)
	}
	if ws != nil && wsErr == nil {
		addWorkspace(d, subject.Parent, ws)
	}
	d.Facts.Default = s.DefaultType(ctx, d.Facts.Type)
	return nil
}

func addLogicalCluster(d *model.Details, lc *corev1alpha1.LogicalCluster) {
	d.Facts.Type = display.Line(lc.Annotations[tenancyv1alpha1.TypeAnnotationKey])
	d.Facts.Phase = string(lc.Status.Phase)
	d.Facts.Cluster = display.Line(lc.Annotations[logicalcluster.AnnotationKey])
	d.Facts.Shard = display.Line(lc.Annotations[corev1alpha1.ShardAnnotationKey])
	d.Facts.By = ownerOf(lc.Annotations)
	if by := lc.Spec.CreatedBy; by != nil {
		d.Facts.By = display.Line(by.Username)
	}
	d.Facts.Created = lc.CreationTimestamp.Time
	d.Conditions = conditionsOf(lc.Status.Conditions)
}

func addWorkspace(d *model.Details, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) {
	item := ItemOf(parent, ws)
	f := &d.Facts
	f.Type, f.Phase, f.URL = cmp.Or(item.Type, f.Type), cmp.Or(item.Phase, f.Phase), display.Line(ws.Spec.URL)
	f.Cluster = cmp.Or(item.Cluster, f.Cluster)
	f.Shard = cmp.Or(display.Line(ws.Annotations[corev1alpha1.ShardAnnotationKey]), f.Shard)
	f.By = cmp.Or(f.By, ownerOf(ws.Annotations))
	f.Description = display.Line(ws.Annotations[descriptionAnnotation])
	f.Created = ws.CreationTimestamp.Time
	if len(ws.Status.Conditions) > 0 {
		d.Conditions = conditionsOf(ws.Status.Conditions)
	}
}

// ownerOf returns who created a workspace, as far as its annotations say so.
func ownerOf(annotations map[string]string) string {
	var owner struct {
		Username string `json:"username"`
	}
	if err := json.Unmarshal([]byte(annotations[tenancyv1alpha1.OwnerAnnotationKey]), &owner); err != nil {
		return ""
	}
	return display.Line(owner.Username)
}

// DefaultType returns the type that workspaces below one of the type t get, "" if that
// cannot be found out.
func (s *Server) DefaultType(ctx context.Context, t string) string {
	full, err := logicalcluster.ParsePath(t)
	if err != nil {
		return ""
	}
	parent, ok := full.Parent()
	if !ok {
		return ""
	}
	found, err := client.Get[tenancyv1alpha1.WorkspaceType](ctx, s.Client, parent, workspaceTypes, full.Base())
	if err != nil || found.Spec.DefaultChildWorkspaceType == nil {
		return ""
	}
	return typeOf(found.Spec.DefaultChildWorkspaceType)
}

func (s *Server) bindings(ctx context.Context, subject model.Subject, d *model.Details) error {
	found, err := s.Client.Bindings(ctx, subject.Path)
	if err != nil {
		return absent(err)
	}
	for i := range found {
		d.Bindings = append(d.Bindings, bindingOf(&found[i]))
	}
	return nil
}

// bindingOf returns what is shown of an APIBinding.
func bindingOf(b *client.Binding) model.Binding {
	shown := model.Binding{Name: display.Line(b.Name)}
	if ref := b.Spec.Reference.Export; ref != nil {
		shown.Export = display.Line(strings.TrimPrefix(ref.Path+":"+ref.Name, ":"))
	}
	if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		shown.Phase = cmp.Or(display.Line(string(b.Status.Phase)), "Binding")
	}
	for _, r := range b.Status.BoundResources {
		shown.Resources = append(shown.Resources, display.Line(resourceName(r.Resource, r.Group)))
	}
	for _, claim := range b.Status.ExportPermissionClaims {
		answered := slices.ContainsFunc(b.Spec.PermissionClaims, func(answer apisv1alpha2.AcceptablePermissionClaim) bool {
			return answer.GroupResource == claim.GroupResource && answer.IdentityHash == claim.IdentityHash && answer.State != ""
		})
		if !answered {
			shown.Open++
		}
	}
	return shown
}

func resourceName(resource, group string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}

func (s *Server) exports(ctx context.Context, subject model.Subject, d *model.Details) error {
	apis, err := s.Client.APIs(ctx, subject.Path)
	if err != nil {
		return absent(err)
	}
	found, err := apis.Exports(ctx)
	if err != nil {
		return absent(err)
	}
	if len(found) == 0 {
		return nil
	}
	// Exports are worth showing without their addresses.
	slices, _ := client.List[apisv1alpha1.APIExportEndpointSlice](ctx, s.Client, subject.Path, endpointSlices)
	for i := range found {
		d.Exports = append(d.Exports, exportOf(subject.Path, &found[i], slices))
	}
	return nil
}

// exportOf returns what is shown of an APIExport in the workspace p.
func exportOf(p logicalcluster.Path, e *client.Export, slices []apisv1alpha1.APIExportEndpointSlice) model.Export {
	shown := model.Export{Name: display.Line(e.Name), Identity: display.Line(e.Status.IdentityHash)}
	for _, r := range e.Spec.Resources {
		shown.Resources = append(shown.Resources, display.Line(resourceName(r.Name, r.Group)))
	}
	for i := range slices {
		of := slices[i].Spec.APIExport
		if of.Name == e.Name && (of.Path == "" || of.Path == p.String()) {
			shown.Slices = append(shown.Slices, display.Line(slices[i].Name))
			shown.Endpoints += len(slices[i].Status.APIExportEndpoints)
		}
	}
	return shown
}

// event is what is shown of an event, in either form that they come in.
type event struct {
	metav1.ObjectMeta `json:"metadata"`
	Type              string           `json:"type"`
	Reason            string           `json:"reason"`
	Message           string           `json:"message"`
	Count             int              `json:"count"`
	LastTimestamp     metav1.Time      `json:"lastTimestamp"`
	EventTime         metav1.MicroTime `json:"eventTime"`
	InvolvedObject    struct {
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"involvedObject"`
}

func (s *Server) events(ctx context.Context, subject model.Subject, d *model.Details) error {
	found, err := client.List[event](ctx, s.Client, subject.Path, events)
	if err != nil {
		return absent(err)
	}
	d.Events = eventsOf(found)
	return nil
}

// eventsOf returns what is shown of events, the latest first.
func eventsOf(found []event) []model.Event {
	shown := make([]model.Event, 0, len(found))
	for i := range found {
		e := &found[i]
		at := e.CreationTimestamp.Time
		for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
			if t.After(at) {
				at = t
			}
		}
		about := e.InvolvedObject.Kind + " " + e.InvolvedObject.Name
		if e.InvolvedObject.Namespace != "" {
			about = e.InvolvedObject.Kind + " " + e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
		}
		shown = append(shown, model.Event{
			At: at, Warning: e.Type == "Warning", Count: e.Count,
			Reason: display.Line(e.Reason), Subject: display.Line(about), Message: display.Line(e.Message),
		})
	}
	slices.SortStableFunc(shown, func(a, b model.Event) int { return b.At.Compare(a.At) })
	return shown[:min(len(shown), mostEvents)]
}

// yaml returns the Workspace as it is or, where there is none, the LogicalCluster.
func (s *Server) yaml(ctx context.Context, subject model.Subject, d *model.Details) error {
	object, err := s.object(ctx, subject)
	if err != nil {
		return err
	}
	d.YAML, err = yamlOf(object)
	return err
}

// yamlOf writes an object without what only the server needs. Strings in YAML have no
// control characters of their own: they are escaped.
func yamlOf(object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object.Object)
	return string(text), err
}

func (s *Server) object(ctx context.Context, subject model.Subject) (*unstructured.Unstructured, error) {
	if !subject.Parent.Empty() {
		if object, err := client.Get[unstructured.Unstructured](ctx, s.Client, subject.Parent, workspaces, subject.Name); err == nil {
			return object, nil
		}
	}
	return client.Get[unstructured.Unstructured](ctx, s.Client, subject.Path, logicalClusters, corev1alpha1.LogicalClusterName)
}

// absent makes no error of what a workspace does not have: some types have no such APIs.
func absent(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
