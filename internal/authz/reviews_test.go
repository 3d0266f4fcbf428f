package authz

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	bootstrap "github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestAllowedIn(t *testing.T) {
	m := memory{
		logicalcluster.Root: rootCluster(),
		teamA: requiring("vip",
			clusterRole("use", rbacv1.PolicyRule{
				APIGroups: []string{"tenancy.kcp.io"}, Resources: []string{"workspacetypes"},
				ResourceNames: []string{"custom"}, Verbs: []string{"use"},
			}),
			bind("use", "use", userSubject("carol"))),
	}
	a := newAuthorizer(t, m)
	use := func(name string, u user.Info) (bool, error) {
		attributes := resource("use", "tenancy.kcp.io", "workspacetypes", "", name)
		attributes.User = u
		return a.AllowedIn(in(t, teamB), teamA, &attributes)
	}
	for name, tc := range map[string]struct {
		reason string
		name   string
		user   user.Info
		want   bool
	}{
		"Granted":    {"neither access nor required groups are needed", "custom", carol, true},
		"NotGranted": {"the policy is that of the other cluster", "custom", bob, false},
		"OtherName":  {"and of that name", "other", carol, false},
		"Masters":    {"masters may always", "other", masters, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := use(tc.name, tc.user); err != nil || got != tc.want {
				t.Errorf("%s: got %v, %v", tc.reason, got, err)
			}
		})
	}

	attributes := resource("use", "tenancy.kcp.io", "workspacetypes", "", "universal")
	attributes.User = serviceAccountOf("teamb")
	if ok, err := a.AllowedIn(in(t, teamB), logicalcluster.Root, &attributes); err != nil || !ok {
		t.Errorf("everybody may use the types of root, service accounts of anywhere included: got %v, %v", ok, err)
	}
}

func TestDeepReviews(t *testing.T) {
	review := &genericrequest.RequestInfo{IsResourceRequest: true, APIGroup: "authorization.k8s.io", Resource: "subjectaccessreviews"}
	other := &genericrequest.RequestInfo{IsResourceRequest: true, APIGroup: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}
	for name, tc := range map[string]struct {
		reason string
		user   user.Info
		info   *genericrequest.RequestInfo
		header string
		want   bool
	}{
		"Masters":       {"masters are listened to", masters, review, "true", true},
		"KcpAdmin":      {"kcp-admin is ignored", kcpAdmin, review, "true", false},
		"OtherResource": {"only subject access reviews can be deep", masters, other, "true", false},
		"OtherValue":    {"only true is true", masters, review, "1", false},
		"NoHeader":      {"reviews are not deep by themselves", masters, review, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := genericrequest.WithUser(genericrequest.WithRequestInfo(t.Context(), tc.info), tc.user)
			req := httptest.NewRequest(http.MethodPost, "/", nil).WithContext(ctx)
			req.Header.Set(DeepReviewHeader, tc.header)
			var seen context.Context
			WithDeepReviews(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { seen = req.Context() })).
				ServeHTTP(httptest.NewRecorder(), req)
			if got := isDeep(seen); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}

	a := newAuthorizer(t, memory{teamA: requiring("vip", configMapReader, bind("read", "configmap-reader", userSubject("carol")))})
	attributes := configMap("get")
	attributes.User = carol
	if got, _, _ := a.Reviews().Authorize(in(t, teamA), &attributes); got != denied {
		t.Errorf("a plain review goes through the whole chain: got %s", got)
	}
	if got, _, _ := a.Reviews().Authorize(withDeep(in(t, teamA)), &attributes); got != allowed {
		t.Errorf("a deep one asks the policy only: got %s", got)
	}
}

func TestRules(t *testing.T) {
	m := memory{
		teamA: inPhase(corev1alpha1.PhaseReady,
			bind("enter", bootstrap.WorkspaceAccess, userSubject("carol")),
			bootstrap.WorkspaceAdmin("alice")),
		teamB: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("bob")),
	}
	rules := NewRules(systemAdmin(t), m)

	resources, nonResources, incomplete, err := rules.Reviewable().RulesFor(in(t, teamA), carol, "default")
	if err != nil || incomplete {
		t.Fatalf("got incomplete %v, error %v", incomplete, err)
	}
	var got []string
	for _, r := range resources {
		for _, verb := range r.GetVerbs() {
			for _, resource := range r.GetResources() {
				got = append(got, verb+" "+resource+"."+r.GetAPIGroups()[0])
			}
		}
	}
	want := []string{
		"create selfsubjectaccessreviews.authorization.k8s.io",
		"create selfsubjectrulesreviews.authorization.k8s.io",
		"create selfsubjectreviews.authentication.k8s.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who may only enter may only ask about himself (-want +got):\n%s", diff)
	}
	var gotURLs [][]string
	for _, r := range nonResources {
		gotURLs = append(gotURLs, append(r.GetVerbs(), r.GetNonResourceURLs()...))
	}
	wantURLs := [][]string{
		{"get", "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/"},
		{"get", "/healthz", "/livez", "/readyz", "/version", "/version/"},
		{"access", "/"},
	}
	if diff := cmp.Diff(wantURLs, gotURLs); diff != "" {
		t.Errorf("and see discovery (-want +got):\n%s", diff)
	}

	everything := func(cluster logicalcluster.Name, u user.Info) bool {
		all, err := rules.RulesFor(in(t, cluster), u, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range all {
			if len(rule.Resources) > 0 && rule.Resources[0] == "*" && rule.Verbs[0] == "*" {
				return true
			}
		}
		return false
	}
	if !everything(teamA, alice) || everything(teamB, alice) {
		t.Error("the rules of an admin are those of his workspace, by a role of system:admin")
	}
	if _, err := rules.RulesFor(t.Context(), alice, ""); err == nil {
		t.Error("without a cluster rules are an error, not empty")
	}
}
