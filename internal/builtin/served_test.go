package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/builtintest"
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

func TestServedResources(t *testing.T) {
	withoutTokens := map[string]string{}
	for resource, verbs := range served {
		if resource != "v1 serviceaccounts/token" {
			withoutTokens[resource] = verbs
		}
	}
	cases := map[string]struct {
		reason string
		tokens *builtin.Tokens
		want   map[string]string
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
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := builtintest.Config()
			config.Tokens = tc.tokens
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
	named := map[string]bool{}
	for _, resource := range builtin.Names() {
		named[resource.GroupVersion().String()+" "+resource.Resource] = true
	}
	for resource := range served {
		if !named[resource] {
			t.Errorf("%s is served and not named", resource)
		}
		delete(named, resource)
	}
	for resource := range named {
		t.Errorf("%s is named and not served", resource)
	}
}
