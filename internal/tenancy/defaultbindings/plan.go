package defaultbindings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Binding is an APIBinding that is to be made.
type Binding struct {
	// Object is complete.
	Object *apisv1alpha2.APIBinding
	// Served is what it gives to the workspace: nothing as long as it has no status.
	Served []schema.Served
}

// Plan is what has to be made.
type Plan struct {
	// Cluster is the workspace that binds.
	Cluster logicalcluster.Name
	// Bindings are those that are missing.
	Bindings []Binding
	// Locks says which of those that are decided gives which resource to the workspace.
	Locks binding.Locks
	// Existing are those of the wanted bindings that are there.
	Existing []*apisv1alpha2.APIBinding
	// Changed are those of them that are to be overwritten, as they should be.
	Changed []*apisv1alpha2.APIBinding
	// Problems say why further ones cannot be made.
	Problems []string
}

// unbindable is why something cannot be bound, in words for the owner of a workspace.
type unbindable string

// Error implements error.
func (u unbindable) Error() string { return string(u) }

// Plan returns what is missing of what in wants. An error says that something could not
// be found out.
func (p *Planner) Plan(ctx context.Context, in Input) (*Plan, error) {
	// Storage keeps whole seconds, so objects in memory have them too.
	in.Now = in.Now.Rfc3339Copy()
	plan := &Plan{Cluster: in.Consumer.Cluster, Locks: binding.Locks{}}
	var rivals []binding.Rival
	for _, wanted := range in.Wanted {
		existing := in.existing(wanted)
		if existing != nil {
			plan.Existing = append(plan.Existing, existing)
			if !in.Overwrite {
				continue
			}
		}
		export, err := p.find(ctx, in, wanted)
		if problem := unbindable(""); errors.As(err, &problem) {
			plan.Problems = append(plan.Problems, string(problem))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("binding %s|%s: %w", wanted.Path, wanted.Export, err)
		}
		if existing != nil {
			if changed := overwritten(existing, newBinding(in, wanted, export)); changed != nil {
				plan.Changed = append(plan.Changed, changed)
			}
			continue
		}
		made, err := p.bind(ctx, in, wanted, export, rivals)
		if err != nil {
			return nil, fmt.Errorf("binding %s|%s: %w", wanted.Path, wanted.Export, err)
		}
		plan.Bindings = append(plan.Bindings, made)
		rivals = append(rivals, binding.OfBinding(made.Object, definitionIn(made.Served))...)
	}
	for i := range rivals {
		if rivals[i].Lock != (binding.Lock{}) {
			plan.Locks[binding.LockKey(rivals[i].Resource)] = rivals[i].Lock
		}
	}
	return plan, nil
}

// existing returns the binding that is there already, nil if it is not.
func (in Input) existing(wanted Wanted) *apisv1alpha2.APIBinding {
	i := slices.IndexFunc(in.Existing, func(b apisv1alpha2.APIBinding) bool { return b.Name == wanted.Binding })
	if i < 0 {
		return nil
	}
	return &in.Existing[i]
}

// find returns an export that in.Who may bind, without what it offers. An unknown path and a missing permission
// get the same answer, as everywhere.
func (p *Planner) find(ctx context.Context, in Input, wanted Wanted) (*binding.Export, error) {
	forbidden := unbindable(fmt.Sprintf("no permission to bind to export %s:%s%s", wanted.Path, wanted.Export, wanted.because()))
	missing := unbindable(fmt.Sprintf("APIExport %s|%s not found%s", wanted.Path, wanted.Export, wanted.because()))
	cluster, err := p.References.Cluster(ctx, in.Consumer.Cluster, wanted.Path)
	if exportref.IsNotFound(err) {
		return nil, forbidden
	}
	if err != nil {
		return nil, err
	}
	if in.Who != nil {
		allowed, err := p.MayBind(ctx, cluster, wanted.Export, in.Who)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return nil, forbidden
		}
	}
	object, err := p.APIs.Export(ctx, cluster, wanted.Export)
	if apierrors.IsNotFound(err) || err == nil && !object.DeletionTimestamp.IsZero() {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return &binding.Export{Cluster: cluster, Object: object}, nil
}

// bind returns the binding to an export, decided if that is possible.
func (p *Planner) bind(ctx context.Context, in Input, wanted Wanted, export *binding.Export, rivals []binding.Rival) (Binding, error) {
	object := newBinding(in, wanted, export)
	made := Binding{Object: object}
	if !in.Decide {
		return made, nil
	}
	var err error
	if export.Offers, err = p.offers(ctx, export.Cluster, export.Object); err != nil {
		return made, err
	}
	if known, err := p.stored(ctx, export); err != nil || !known {
		return made, err
	}
	for _, offer := range export.Offers {
		rivals = append(rivals, p.Reserved(in.Consumer.Cluster, offer.Resource.Group)...)
	}
	decided := binding.Decide(binding.Input{
		Cluster: in.Consumer.Cluster, Binding: object, Export: export, Rivals: rivals, Now: in.Now,
	}).Binding
	if decided.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		return made, nil
	}
	if len(object.Spec.PermissionClaims) == 0 {
		for _, t := range []conditions.Type{apisv1alpha1.PermissionClaimsValid, apisv1alpha1.PermissionClaimsApplied} {
			conditions.Set(decided, conditions.Condition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: in.Now})
		}
	}
	return Binding{Object: decided, Served: p.served(export)}, nil
}

// newBinding returns the binding to an export as admission would let it in.
func newBinding(in Input, wanted Wanted, export *binding.Export) *apisv1alpha2.APIBinding {
	return &apisv1alpha2.APIBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: apisv1alpha2.GroupVersion.String(), Kind: "APIBinding"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              wanted.Binding,
			UID:               in.NewUID(),
			CreationTimestamp: in.Now,
			Labels: map[string]string{
				apisv1alpha1.InternalAPIBindingExportLabelKey:        apihash.Export(export.Cluster, wanted.Export),
				apihash.ClaimLabelKey(export.Cluster, wanted.Export): apihash.Reflexive,
			},
			Annotations: map[string]string{logicalcluster.PathAnnotationKey: in.Consumer.Path.String()},
			Finalizers:  []string{apisv1alpha1.APIBindingFinalizer},
			Generation:  1,
		},
		Spec: apisv1alpha2.APIBindingSpec{
			Reference: apisv1alpha2.BindingReference{
				Export: &apisv1alpha2.ExportBindingReference{Path: wanted.Path, Name: wanted.Export},
			},
			PermissionClaims: accepted(export.Object.Spec.PermissionClaims),
		},
	}
}

// accepted returns the answer to claims that accepts them all.
func accepted(claims []apisv1alpha2.PermissionClaim) []apisv1alpha2.AcceptablePermissionClaim {
	var answers []apisv1alpha2.AcceptablePermissionClaim
	for i := range claims {
		claim := claims[i].DeepCopy()
		selector := apisv1alpha2.PermissionClaimSelector{MatchAll: true}
		if claim.DefaultSelector != nil {
			selector = *claim.DefaultSelector.DeepCopy()
		}
		answers = append(answers, apisv1alpha2.AcceptablePermissionClaim{
			ScopedPermissionClaim: apisv1alpha2.ScopedPermissionClaim{PermissionClaim: *claim, Selector: selector},
			State:                 apisv1alpha2.ClaimAccepted,
		})
	}
	return answers
}
