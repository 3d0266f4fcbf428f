// Package policystatus is the controller that type-checks ValidatingAdmissionPolicies:
// it compares their expressions with the schemas of what they match and of their
// parameters, and says in their status what does not fit.
//
// The check is upstream's, and so are its words. As upstream, it is made once for each
// generation of a policy: kinds that come to be later change no status. What a warning
// says has no influence on what a policy does.
package policystatus

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	conversion "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// workers is small: a check takes milliseconds of computation for each expression, and
// nobody waits for it.
const workers = 2

// Config is what the controller works with.
type Config struct {
	Layer    *storage.Layer
	Policies cached.ValidatingPolicyReader
	// Mapper returns the kinds of a cluster.
	Mapper func(logicalcluster.Name) meta.RESTMapper
	// Schema returns the OpenAPI schema of a kind of a cluster, with all that it refers
	// to, or resolver.ErrSchemaNotFound.
	Schema func(logicalcluster.Name, schema.GroupVersionKind) (*spec.Schema, error)
}

type reconciler struct{ Config }

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	store, ok := config.Layer.Store(cached.ValidatingPolicies)
	if !ok {
		return nil, errors.New("the store of validating admission policies is not open")
	}
	r := &reconciler{config}
	return controller.New(controller.Options{
		Name:      "validatingadmissionpolicy-status",
		Workers:   workers,
		Sources:   []controller.Source{{Store: store, Prefix: cached.ValidatingPolicies.Prefix(), Keys: ifUnchecked}},
		Reconcile: r.reconcile,
	}), nil
}

// ifUnchecked returns the key of a policy that has not been checked as it is now.
func ifUnchecked(obj runtime.Object) []controller.Key {
	policy, ok := obj.(*admissionregistration.ValidatingAdmissionPolicy)
	if !ok || checked(policy) {
		return nil
	}
	return controller.OwnKey(obj)
}

func checked(policy *admissionregistration.ValidatingAdmissionPolicy) bool {
	return policy.Generation <= policy.Status.ObservedGeneration
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	policy, err := r.Policies.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || checked(policy) {
		return err
	}
	warnings, err := r.check(key.Cluster, policy)
	if err != nil {
		return err
	}
	policy = policy.DeepCopy()
	policy.Status.ObservedGeneration = policy.Generation
	policy.Status.TypeChecking = &admissionregistration.TypeChecking{ExpressionWarnings: warnings}
	return r.Policies.Update(ctx, key.Cluster, policy)
}

// check returns what is wrong with the types of a policy.
func (r *reconciler) check(cluster logicalcluster.Name, policy *admissionregistration.ValidatingAdmissionPolicy) ([]admissionregistration.ExpressionWarning, error) {
	served := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := conversion.Convert_admissionregistration_ValidatingAdmissionPolicy_To_v1_ValidatingAdmissionPolicy(policy, served, nil); err != nil {
		return nil, fmt.Errorf("converting policy %s: %w", policy.Name, err)
	}
	checker := validating.TypeChecker{
		SchemaResolver: schemas{cluster: cluster, of: r.Schema},
		RestMapper:     r.Mapper(cluster),
	}
	var warnings []admissionregistration.ExpressionWarning
	for _, warning := range checker.Check(served) {
		warnings = append(warnings, admissionregistration.ExpressionWarning(warning))
	}
	return warnings, nil
}

// schemas are the schemas of one cluster.
type schemas struct {
	cluster logicalcluster.Name
	of      func(logicalcluster.Name, schema.GroupVersionKind) (*spec.Schema, error)
}

// ResolveSchema implements resolver.SchemaResolver.
func (s schemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return s.of(s.cluster, kind)
}
