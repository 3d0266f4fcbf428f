package impersonation

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	teamA = logicalcluster.MustParseName("teama")
	teamB = logicalcluster.MustParseName("teamb")
)

func codecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme)
}

// exchange is what one request led to.
type exchange struct {
	code int
	body string
	user user.Info // that the handler behind the filter saw, nil if it was not reached
}

// tester sends requests through one filter, whose authorizer is asked.
type tester struct {
	handler http.Handler
	reached *user.Info
}

func newTester(a authorizer.AuthorizerFunc) *tester {
	var reached user.Info
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		reached, _ = genericrequest.UserFrom(req.Context())
		for name := range req.Header {
			if strings.HasPrefix(name, "Impersonate-") && req.Header.Get(name) != "" {
				reached = nil
			}
		}
	})
	return &tester{With(handler, a, codecs()), &reached}
}

func (f *tester) send(t *testing.T, cluster logicalcluster.Name, caller user.Info, headers ...string) exchange {
	t.Helper()
	*f.reached = nil
	ctx := logicalcluster.NewContext(t.Context(), cluster)
	ctx = genericrequest.WithUser(ctx, caller)
	ctx = genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, Verb: "get", APIVersion: "v1", Resource: "configmaps", Namespace: "default", Name: "c",
	})
	req := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/configmaps/c", nil).WithContext(ctx)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	f.handler.ServeHTTP(recorder, req)
	return exchange{recorder.Code, recorder.Body.String(), *f.reached}
}

// adminOf allows everything in cluster, and nothing elsewhere.
func adminOf(cluster logicalcluster.Name) authorizer.AuthorizerFunc {
	return func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
		if name, _ := logicalcluster.FromContext(ctx); name == cluster {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "access denied", nil
	}
}

var (
	alice    = &user.DefaultInfo{Name: "alice", Groups: []string{user.AllAuthenticated}}
	kcpAdmin = &user.DefaultInfo{Name: "kcp-admin", Groups: []string{identity.Admin, user.AllAuthenticated}}
	masters  = &user.DefaultInfo{Name: "shard-admin", Groups: []string{identity.Masters, user.AllAuthenticated}}
)

func TestImpersonation(t *testing.T) {
	nested := identity.NewWarrant(&user.DefaultInfo{Name: "w", Extra: map[string][]string{
		identity.WarrantKey: {identity.NewWarrant(&user.DefaultInfo{Groups: []string{identity.Admin}}).String()},
	}}).String()
	scopes := map[string][]string{identity.ScopesKey: {"cluster:teama"}}
	table := map[string]struct {
		reason  string
		caller  user.Info
		headers []string
		code    int
		want    *user.DefaultInfo
	}{
		"Nobody": {
			"without headers everything stays as it is", alice, nil, http.StatusOK, alice,
		},
		"NobodyByName": {
			"an empty name asks for nobody", alice, []string{"Impersonate-User", ""}, http.StatusOK, alice,
		},
		"User": {
			"an admin may be anybody, in his workspace only", alice, []string{"Impersonate-User", "bob"}, http.StatusOK,
			&user.DefaultInfo{Name: "bob", Groups: []string{user.AllAuthenticated}, Extra: scopes},
		},
		"Group": {
			"a group of no meaning may be put on", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", "elephant"}, http.StatusOK,
			&user.DefaultInfo{Name: "bob", Groups: []string{"elephant", user.AllAuthenticated}, Extra: scopes},
		},
		"Scopes": {
			"the limit is added to scopes that are asked for", alice,
			[]string{"Impersonate-User", "bob", "Impersonate-Extra-Authentication.kcp.io%2fscopes", "cluster:teamb"}, http.StatusOK,
			&user.DefaultInfo{Name: "bob", Groups: []string{user.AllAuthenticated}, Extra: map[string][]string{
				identity.ScopesKey: {"cluster:teamb", "cluster:teama"},
			}},
		},
		"Masters":       {"nobody becomes a master", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.Masters}, http.StatusForbidden, nil},
		"Admin":         {"nor a kcp-admin", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.Admin}, http.StatusForbidden, nil},
		"SecondGroup":   {"all groups are looked at", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", "a", "Impersonate-Group", identity.Admin}, http.StatusForbidden, nil},
		"Initializer":   {"nor an initializer", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.InitializerPrefix + "root:universal"}, http.StatusForbidden, nil},
		"Terminator":    {"nor a terminator", alice, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.TerminatorPrefix + "root:universal"}, http.StatusForbidden, nil},
		"Warrant":       {"nor by a warrant", alice, []string{"Impersonate-User", "bob", "Impersonate-Extra-Authorization.kcp.io%2fwarrant", `{"user":"w","groups":["system:masters"]}`}, http.StatusForbidden, nil},
		"NestedWarrant": {"nor by a warrant within a warrant", alice, []string{"Impersonate-User", "bob", "Impersonate-Extra-Authorization.kcp.io%2fwarrant", nested}, http.StatusForbidden, nil},
		"NoUser":        {"a group needs a user", alice, []string{"Impersonate-Group", "elephant"}, http.StatusBadRequest, nil},
		"GroupOnly":     {"which does not open the gate", alice, []string{"Impersonate-Group", identity.Masters}, http.StatusForbidden, nil},
		"UIDOnly":       {"a UID needs a user, too", alice, []string{"Impersonate-Uid", "1"}, http.StatusBadRequest, nil},
		"OwnGroup": {
			"a group one is in may be kept", kcpAdmin, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.Admin}, http.StatusOK,
			&user.DefaultInfo{Name: "bob", Groups: []string{identity.Admin, user.AllAuthenticated}, Extra: scopes},
		},
		"NotOwnGroup": {"another not", kcpAdmin, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.Masters}, http.StatusForbidden, nil},
		"ByMasters": {
			"masters may put on anybody, without a limit", masters, []string{"Impersonate-User", "bob", "Impersonate-Group", identity.Admin}, http.StatusOK,
			&user.DefaultInfo{Name: "bob", Groups: []string{identity.Admin, user.AllAuthenticated}},
		},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			got := newTester(adminOf(teamA)).send(t, teamA, tc.caller, tc.headers...)
			if got.code != tc.code {
				t.Fatalf("%s: got %d %s", tc.reason, got.code, got.body)
			}
			if tc.code == http.StatusForbidden && !strings.Contains(got.body, "forbidden: impersonation is not allowed for the requestor") {
				t.Errorf("%s: got %s", tc.reason, got.body)
			}
			if tc.want == nil {
				if got.user != nil {
					t.Errorf("%s: handled as %v", tc.reason, got.user)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got.user); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNotForOtherClusters(t *testing.T) {
	// The story: upstream remembers for seconds what constrained impersonation was
	// allowed. What the admin of teama may do there must not be remembered in teamb.
	f := newTester(adminOf(teamA))
	for range 2 {
		if got := f.send(t, teamA, alice, "Impersonate-User", "bob"); got.code != http.StatusOK {
			t.Fatalf("in his own workspace: got %d %s", got.code, got.body)
		}
		if got := f.send(t, teamB, alice, "Impersonate-User", "bob"); got.code != http.StatusForbidden {
			t.Fatalf("in another workspace: got %d %s", got.code, got.body)
		}
	}
}

func TestAskedAboutTheCallerAsHeIs(t *testing.T) {
	// The story: upstream drops the extra of a service account that impersonates the
	// node it runs on. Without it default/app of any cluster would be that of this one.
	caller := &user.DefaultInfo{
		Name:   "system:serviceaccount:default:app",
		Groups: []string{user.AllAuthenticated},
		Extra: map[string][]string{
			"authentication.kubernetes.io/node-name": {"n1"},
			identity.ClusterNameKey:                  {"teamb"},
		},
	}
	f := newTester(func(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		if diff := cmp.Diff(user.Info(caller), attributes.GetUser()); diff != "" {
			t.Errorf("asked about somebody else for %s (-want +got):\n%s", attributes.GetVerb(), diff)
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	if got := f.send(t, teamA, caller, "Impersonate-User", "system:node:n1"); got.code != http.StatusForbidden {
		t.Errorf("got %d %s", got.code, got.body)
	}
}
