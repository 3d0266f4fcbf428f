package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var authorization = map[string]behavior{
	"AccessOnly":       {"access gives discovery and nothing else", accessOnly},
	"AccessOnlyRules":  {"the rules of somebody with access only are known in advance", accessOnlyRules},
	"GlobalRoles":      {"roles of system:admin can be bound by name in any workspace", globalRoles},
	"NoNeighborPolicy": {"roles and bindings do not reach another workspace", noNeighborPolicy},
	"SystemStatus":     {"the status of bindings and exports is the system's", systemStatus},
	"ForeignUsers":     {"users of another cluster are known as such, by the group of that cluster", foreignUsers},
	"ScopedReviews":    {"reviews count scopes and warrants as requests do", scopedReviews},
	"AccountReviews":   {"an account of elsewhere brings none of the groups it has there", accountReviews},
	"DeepReviews":      {"a deep review looks behind access, for privileged callers only", deepReviews},
}

func accessOnly(t *testing.T, s *suite) {
	path := s.universal(t)
	inside := s.as(t, alice, path)
	got(t, inside.get("/api"), 403, "access denied")
	s.as(t, s.admin, path).bind("system:kcp:workspace:access", user(aliceName))
	for _, url := range []string{"/api", "/apis", "/api/v1", "/apis/tenancy.kcp.io/v1alpha1", "/version", "/openapi/v2", "/openapi/v3"} {
		eventually(t, url+" is allowed", func() error {
			if a := inside.get(url); a.code != http.StatusOK {
				return fmt.Errorf("got %d %s", a.code, a.body)
			}
			return nil
		})
	}
	for _, url := range []string{"/api/v1/namespaces", "/apis/tenancy.kcp.io/v1alpha1/workspaces", "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster"} {
		got(t, inside.get(url), 403, "access denied")
	}
}

func accessOnlyRules(t *testing.T, s *suite) {
	path := s.universal(t)
	inside := s.as(t, alice, path)
	rules := func(namespace string) (*authorizationv1.SelfSubjectRulesReview, error) {
		return inside.kube().AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
		}, metav1.CreateOptions{})
	}
	_, err := rules("default")
	refused(t, err, 403)
	s.as(t, s.admin, path).bind("system:kcp:workspace:access", user(aliceName))
	var review *authorizationv1.SelfSubjectRulesReview
	eventually(t, "the review is allowed", func() (err error) {
		review, err = rules("default")
		return err
	})
	want := []string{
		"access /",
		"create selfsubjectaccessreviews,selfsubjectrulesreviews.authorization.k8s.io",
		"create selfsubjectreviews.authentication.k8s.io",
		"get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/",
		"get /healthz,/livez,/readyz,/version,/version/",
	}
	if diff := cmp.Diff(want, printed(review.Status)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if review.Status.Incomplete {
		t.Errorf("the rules are incomplete: %s", review.Status.EvaluationError)
	}
	_, err = rules("")
	refused(t, err, 400)
}

// printed returns rules as lines, in order.
func printed(status authorizationv1.SubjectRulesReviewStatus) []string {
	var lines []string
	for _, rule := range status.ResourceRules {
		resources := strings.Join(slices.Sorted(slices.Values(rule.Resources)), ",")
		lines = append(lines, fmt.Sprintf("%s %s.%s", strings.Join(rule.Verbs, ","), resources, strings.Join(rule.APIGroups, ",")))
	}
	for _, rule := range status.NonResourceRules {
		lines = append(lines, fmt.Sprintf("%s %s", strings.Join(rule.Verbs, ","), strings.Join(slices.Sorted(slices.Values(rule.NonResourceURLs)), ",")))
	}
	return slices.Sorted(slices.Values(lines))
}

func globalRoles(t *testing.T, s *suite) {
	global := s.as(t, s.master, "system:admin").kube().RbacV1().ClusterRoles()
	role, err := global.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "global-"},
		Rules:      []rbacv1.PolicyRule{accessRule, {Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}},
	}, metav1.CreateOptions{})
	ok(t, err)
	path := s.universal(t)
	s.as(t, s.admin, path).bind(role.Name, user(aliceName))
	inside := s.as(t, alice, path)
	eventually(t, "the role is in force", func() error {
		_, err := inside.kube().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	})
	review, err := inside.kube().AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
	}, metav1.CreateOptions{})
	ok(t, err)
	if rules := printed(review.Status); !slices.Contains(rules, "list configmaps.") {
		t.Errorf("rules are %v", rules)
	}
	// It is not one of the workspace's own, though.
	_, err = s.as(t, s.admin, path).kube().RbacV1().ClusterRoles().Get(t.Context(), role.Name, metav1.GetOptions{})
	refused(t, err, 404)
}

func noNeighborPolicy(t *testing.T, s *suite) {
	mine, other := s.universal(t, aliceName), s.universal(t)
	s.as(t, s.admin, other).bind("system:kcp:workspace:access", user(aliceName))
	s.as(t, s.admin, mine).allow(user(aliceName), rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}})
	eventually(t, "the neighbor lets in", func() error {
		if a := s.as(t, alice, other).get("/api"); a.code != http.StatusOK {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
	got(t, s.as(t, alice, mine).get("/api/v1/configmaps"), 200)
	got(t, s.as(t, alice, other).get("/api/v1/configmaps"), 403, "access denied")
	// The child's admins are not the parent's, nor the other way round.
	parent := s.organization(t, aliceName)
	child := s.as(t, alice, parent).workspace()
	s.as(t, alice, parent+":"+child.Name).bind("cluster-admin", user(bobName))
	got(t, s.as(t, bob, parent).get("/api"), 403, "access denied")
}

func systemStatus(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for _, resource := range []string{"apibindings", "apiexports"} {
		for _, token := range []string{alice, s.admin} {
			caller := inside
			caller.config = s.as(t, token, strings.TrimPrefix(inside.config.Host, s.server.URL()+"/clusters/")).config
			url := "/apis/apis.kcp.io/v1alpha2/" + resource + "/any/status"
			got(t, caller.get(url), 403)
			got(t, caller.do(http.MethodPut, url, `{}`), 403)
		}
	}
}

func foreignUsers(t *testing.T, s *suite) {
	home, away := s.universal(t), s.universal(t)
	origin := s.as(t, s.admin, home).cluster().Annotations["kcp.io/cluster"]
	foreign := func(workspace string) caller {
		return s.as(t, s.master, workspace).like("somebody", []string{"team-9"}, map[string][]string{scopesKey: {"cluster:" + origin}})
	}
	inAway := s.as(t, s.admin, away)
	inAway.bind("cluster-admin", user("somebody"))
	inAway.bind("cluster-admin", group("team-9"))
	got(t, foreign(away).get("/api/v1/namespaces"), 403, "access denied")
	inAway.bind("cluster-admin", group("system:cluster:"+origin))
	eventually(t, "the group of the cluster is let in", func() error {
		if a := foreign(away).get("/api/v1/namespaces"); a.code != http.StatusOK {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
	s.as(t, s.admin, home).bind("cluster-admin", user("somebody"))
	eventually(t, "at home it is somebody himself who is let in", func() error {
		if a := foreign(home).get("/api/v1/namespaces"); a.code != http.StatusOK {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
}

// review asks whether somebody may list ConfigMaps.
func review(user string, groups []string, extra map[string]authorizationv1.ExtraValue) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: groups, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Version: "v1", Resource: "configmaps", Namespace: "default"},
		},
	}
}

func scopedReviews(t *testing.T, s *suite) {
	path := s.universal(t)
	inside := s.as(t, s.admin, path)
	here := "cluster:" + inside.cluster().Annotations["kcp.io/cluster"]
	inside.bind("cluster-admin", user("somebody"))
	warrant := `{"user":"other","groups":["system:authenticated","system:kcp:admin"]}`
	for name, test := range map[string]struct {
		extra map[string]authorizationv1.ExtraValue
		want  bool
	}{
		"Unscoped":    {nil, true},
		"InScope":     {map[string]authorizationv1.ExtraValue{scopesKey: {here}}, true},
		"OneOfTwo":    {map[string]authorizationv1.ExtraValue{scopesKey: {"cluster:elsewhere," + here}}, true},
		"OutOfScope":  {map[string]authorizationv1.ExtraValue{scopesKey: {"cluster:elsewhere"}}, false},
		"Conflicting": {map[string]authorizationv1.ExtraValue{scopesKey: {here, "cluster:elsewhere"}}, false},
		"Warrant": {map[string]authorizationv1.ExtraValue{
			scopesKey: {"cluster:elsewhere"}, "authorization.kcp.io/warrant": {warrant},
		}, true},
		"BrokenWarrant": {map[string]authorizationv1.ExtraValue{
			scopesKey: {"cluster:elsewhere"}, "authorization.kcp.io/warrant": {`{"user":`},
		}, false},
	} {
		eventually(t, name, func() error {
			answered, err := inside.kube().AuthorizationV1().SubjectAccessReviews().Create(t.Context(),
				review("somebody", []string{"system:authenticated"}, test.extra), metav1.CreateOptions{})
			if err == nil && answered.Status.Allowed != test.want {
				err = fmt.Errorf("allowed is %t: %s", answered.Status.Allowed, answered.Status.Reason)
			}
			return err
		})
	}
}

func accountReviews(t *testing.T, s *suite) {
	here, there := s.universal(t), s.universal(t)
	inside := s.as(t, s.admin, here)
	for name, test := range map[string]struct {
		from string
		want bool
	}{
		"Here":  {here, true},
		"There": {there, false},
	} {
		origin := s.as(t, s.admin, test.from).cluster().Annotations["kcp.io/cluster"]
		answered, err := inside.kube().AuthorizationV1().SubjectAccessReviews().Create(t.Context(),
			review("system:serviceaccount:default:robot", []string{"system:authenticated", "system:kcp:admin"},
				map[string]authorizationv1.ExtraValue{clusterNameKey: {origin}}), metav1.CreateOptions{})
		ok(t, err)
		if answered.Status.Allowed != test.want {
			t.Errorf("%s: allowed is %t: %s", name, answered.Status.Allowed, answered.Status.Reason)
		}
	}
}

func deepReviews(t *testing.T, s *suite) {
	path := s.universal(t)
	s.as(t, s.admin, path).allow(user("outsider"), rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}})
	body, err := json.Marshal(review("outsider", []string{"system:authenticated"}, nil))
	ok(t, err)
	ask := func(token string, headers ...string) bool {
		t.Helper()
		a := s.as(t, token, path).do(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", string(body), headers...)
		return read[authorizationv1.SubjectAccessReview](t, a).Status.Allowed
	}
	const deep = "X-Kcp-Internal-Deep-SubjectAccessReview: true"
	eventually(t, "a deep review sees the role", func() error {
		if !ask(s.master, deep) {
			return fmt.Errorf("not allowed")
		}
		return nil
	})
	if ask(s.master) || ask(s.admin) {
		t.Error("a review does not ask for access")
	}
	if ask(s.admin, deep) {
		t.Error("somebody else than a privileged caller can ask deeply")
	}
	if phase := s.as(t, s.admin, path).cluster().Status.Phase; phase != corev1alpha1.PhaseReady {
		t.Errorf("the workspace is %s, which explains the answers", phase)
	}
}
