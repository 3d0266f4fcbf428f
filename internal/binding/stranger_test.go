package binding_test

import (
	"testing"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/binding"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestExportsInNewWorkspaces(t *testing.T) {
	elsewhere := logicalcluster.MustParseName("elsewhere")
	for reason, test := range map[string]struct {
		identity string
		asked    bool
		follows  bool
	}{
		"somebody's, by the path of the one that was bound":  {identity: "stranger"},
		"the same one, that has moved with its identity":     {identity: "identity", follows: true},
		"somebody's, for which permission was asked already": {identity: "stranger", asked: true, follows: true},
	} {
		t.Run(reason, func(t *testing.T) {
			b := boundTo(t, exportOf(offer(cowboys, "Cowboy"))).DeepCopy()
			found := exportOf(offer(cowboys, "Cowboy"))
			found.Cluster, found.Object.Status.IdentityHash = elsewhere, test.identity
			if test.asked {
				b.Labels[apisv1alpha1.InternalAPIBindingExportLabelKey] = apihash.Export(elsewhere, found.Object.Name)
			}
			got := binding.Decide(binding.Input{Cluster: consumer, Binding: b, Export: found, Now: now}).Binding
			want, valid := provider, conditions.IsTrue(got, apisv1alpha1.APIExportValid)
			if test.follows {
				want = elsewhere
			}
			if got.Status.APIExportClusterName != want.String() || valid != test.follows {
				t.Errorf("bound to an export in %s, valid: %t, %+v", got.Status.APIExportClusterName, valid, got.Status.Conditions)
			}
			if got.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
				t.Error("what was bound is not bound any more")
			}
		})
	}
}
