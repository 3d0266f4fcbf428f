package builtin_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/builtintest"
	"github.com/forkless/kcp/internal/builtin/workload"
)

const (
	all      = "create delete deletecollection get list patch update watch"
	status   = "get patch update"
	create   = "create"
	nsAll    = "namespaced " + all
	nsStatus = "namespaced " + status
)

// served is the promise to clients: every built-in resource, its scope and verbs.
var served = map[string]string{
	"v1 configmaps":            nsAll,
	"v1 events":                nsAll,
	"v1 namespaces":            "create delete get list patch update watch",
	"v1 namespaces/status":     status,
	"v1 namespaces/finalize":   "update",
	"v1 resourcequotas":        nsAll,
	"v1 resourcequotas/status": nsStatus,
	"v1 secrets":               nsAll,
	"v1 serviceaccounts":       nsAll,
	"v1 serviceaccounts/token": "namespaced create",

	"admissionregistration.k8s.io/v1 mutatingwebhookconfigurations":      all,
	"admissionregistration.k8s.io/v1 validatingwebhookconfigurations":    all,
	"admissionregistration.k8s.io/v1 validatingadmissionpolicies":        all,
	"admissionregistration.k8s.io/v1 validatingadmissionpolicies/status": status,
	"admissionregistration.k8s.io/v1 validatingadmissionpolicybindings":  all,
	"admissionregistration.k8s.io/v1 mutatingadmissionpolicies":          all,
	"admissionregistration.k8s.io/v1 mutatingadmissionpolicybindings":    all,

	"apiextensions.k8s.io/v1 customresourcedefinitions":        all,
	"apiextensions.k8s.io/v1 customresourcedefinitions/status": status,

	"authentication.k8s.io/v1 tokenreviews":       create,
	"authentication.k8s.io/v1 selfsubjectreviews": create,

	"authorization.k8s.io/v1 subjectaccessreviews":      create,
	"authorization.k8s.io/v1 selfsubjectaccessreviews":  create,
	"authorization.k8s.io/v1 selfsubjectrulesreviews":   create,
	"authorization.k8s.io/v1 localsubjectaccessreviews": "namespaced create",

	"certificates.k8s.io/v1 certificatesigningrequests":          all,
	"certificates.k8s.io/v1 certificatesigningrequests/status":   status,
	"certificates.k8s.io/v1 certificatesigningrequests/approval": status,

	"coordination.k8s.io/v1 leases": nsAll,
	"events.k8s.io/v1 events":       nsAll,

	"rbac.authorization.k8s.io/v1 clusterroles":        all,
	"rbac.authorization.k8s.io/v1 clusterrolebindings": all,
	"rbac.authorization.k8s.io/v1 roles":               nsAll,
	"rbac.authorization.k8s.io/v1 rolebindings":        nsAll,
}

const nsCreate = "namespaced create"

// servedWorkloads are the workload types.
var servedWorkloads = map[string]string{
	"v1 bindings":                      nsCreate,
	"v1 endpoints":                     nsAll,
	"v1 limitranges":                   nsAll,
	"v1 nodes":                         all,
	"v1 nodes/status":                  status,
	"v1 persistentvolumeclaims":        nsAll,
	"v1 persistentvolumeclaims/status": nsStatus,
	"v1 persistentvolumes":             all,
	"v1 persistentvolumes/status":      status,
	"v1 pods":                          nsAll,
	"v1 pods/binding":                  nsCreate,
	"v1 pods/ephemeralcontainers":      nsStatus,
	"v1 pods/eviction":                 nsCreate,
	"v1 pods/resize":                   nsStatus,
	"v1 pods/status":                   nsStatus,
	"v1 podtemplates":                  nsAll,
	"v1 replicationcontrollers":        nsAll,
	"v1 replicationcontrollers/scale":  nsStatus,
	"v1 replicationcontrollers/status": nsStatus,
	"v1 services":                      nsAll,
	"v1 services/status":               nsStatus,

	"apps/v1 controllerrevisions": nsAll,
	"apps/v1 daemonsets":          nsAll,
	"apps/v1 daemonsets/status":   nsStatus,
	"apps/v1 deployments":         nsAll,
	"apps/v1 deployments/scale":   nsStatus,
	"apps/v1 deployments/status":  nsStatus,
	"apps/v1 replicasets":         nsAll,
	"apps/v1 replicasets/scale":   nsStatus,
	"apps/v1 replicasets/status":  nsStatus,
	"apps/v1 statefulsets":        nsAll,
	"apps/v1 statefulsets/scale":  nsStatus,
	"apps/v1 statefulsets/status": nsStatus,

	"autoscaling/v1 horizontalpodautoscalers":        nsAll,
	"autoscaling/v1 horizontalpodautoscalers/status": nsStatus,
	"autoscaling/v2 horizontalpodautoscalers":        nsAll,
	"autoscaling/v2 horizontalpodautoscalers/status": nsStatus,

	"batch/v1 cronjobs":        nsAll,
	"batch/v1 cronjobs/status": nsStatus,
	"batch/v1 jobs":            nsAll,
	"batch/v1 jobs/status":     nsStatus,

	"discovery.k8s.io/v1 endpointslices": nsAll,

	"networking.k8s.io/v1 ingressclasses":   all,
	"networking.k8s.io/v1 ingresses":        nsAll,
	"networking.k8s.io/v1 ingresses/status": nsStatus,
	"networking.k8s.io/v1 networkpolicies":  nsAll,

	"node.k8s.io/v1 runtimeclasses": all,

	"policy/v1 poddisruptionbudgets":        nsAll,
	"policy/v1 poddisruptionbudgets/status": nsStatus,

	"scheduling.k8s.io/v1 priorityclasses": all,

	"storage.k8s.io/v1 csidrivers":               all,
	"storage.k8s.io/v1 csinodes":                 all,
	"storage.k8s.io/v1 csistoragecapacities":     nsAll,
	"storage.k8s.io/v1 storageclasses":           all,
	"storage.k8s.io/v1 volumeattachments":        all,
	"storage.k8s.io/v1 volumeattachments/status": status,
	"storage.k8s.io/v1 volumeattributesclasses":  all,
}

func TestServedResources(t *testing.T) {
	withoutTokens := map[string]string{}
	for resource, verbs := range served {
		if resource != "v1 serviceaccounts/token" {
			withoutTokens[resource] = verbs
		}
	}
	withWorkloads := maps.Clone(served)
	maps.Copy(withWorkloads, servedWorkloads)
	cases := map[string]struct {
		reason    string
		tokens    *builtin.Tokens
		workloads *workload.Services
		want      map[string]string
	}{
		"WithTokens": {
			reason: "With a token issuer exactly the promised resources are served, with exactly their verbs.",
			tokens: builtintest.Config().Tokens,
			want:   served,
		},
		"WithoutTokens": {
			reason: "Without a token issuer there is no token subresource, instead of one that always fails.",
			want:   withoutTokens,
		},
		"WithWorkloads": {
			reason:    "With workload types there are those, with their subresources, and nothing that would connect to a node or a pod.",
			tokens:    builtintest.Config().Tokens,
			workloads: builtintest.Workloads(),
			want:      withWorkloads,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := builtintest.Config()
			config.Tokens, config.Workloads = tc.tokens, tc.workloads
			if diff := cmp.Diff(tc.want, installed(t, config)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTokenRequestKind(t *testing.T) {
	recorded := &builtintest.Recorder{}
	builtintest.NewServer(t, builtintest.Config(), recorded)
	want := &metav1.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}
	for _, resource := range recorded.Resources["v1"] {
		if resource.Resource == "serviceaccounts" {
			if diff := cmp.Diff(want, resource.Subresources[0].ResponseKind); diff != "" {
				t.Errorf("clients look for the kind of another group (-want +got):\n%s", diff)
			}
		}
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	config := builtintest.Config()
	config.Authorizer = nil
	_, err := builtin.New(config)
	if err == nil || !strings.Contains(err.Error(), "Authorizer") {
		t.Errorf("a server without an authorizer must not come up, and say so: got %v", err)
	}
}

// installed returns what clients are told of all groups.
func installed(t *testing.T, config builtin.Config) map[string]string {
	t.Helper()
	recorded := &builtintest.Recorder{}
	builtintest.NewServer(t, config, recorded)
	got := map[string]string{}
	for group, resources := range recorded.Resources {
		for _, resource := range resources {
			prefix := ""
			if resource.Scope == apidiscoveryv2.ScopeNamespace {
				prefix = "namespaced "
			}
			got[group+" "+resource.Resource] = prefix + strings.Join(resource.Verbs, " ")
			for _, sub := range resource.Subresources {
				name := fmt.Sprintf("%s %s/%s", group, resource.Resource, sub.Subresource)
				got[name] = prefix + strings.Join(sub.Verbs, " ")
			}
		}
	}
	return got
}

func TestNamesAreThoseServed(t *testing.T) {
	withWorkloads := maps.Clone(served)
	maps.Copy(withWorkloads, servedWorkloads)
	for workloads, want := range map[bool]map[string]string{false: served, true: withWorkloads} {
		named := map[string]bool{}
		for _, resource := range builtin.TypesOf(workloads).Names() {
			named[resource.GroupVersion().String()+" "+resource.Resource] = true
		}
		for resource := range want {
			if !named[resource] {
				t.Errorf("%s is served and not named (workload types: %t)", resource, workloads)
			}
			delete(named, resource)
		}
		for resource := range named {
			t.Errorf("%s is named and not served (workload types: %t)", resource, workloads)
		}
	}
}
