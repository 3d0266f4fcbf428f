package observable

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

const accessRole = "system:kcp:workspace:access"

// raw gets a path of a workspace.
func (c *tenant) raw(t *testing.T, path string) (string, error) {
	t.Helper()
	data, err := c.kube.Discovery().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
	return string(data), err
}

// entering: without access there is nothing, with it there is discovery.
func (s *suite) entering(t *testing.T) {
	org := s.organization(t)
	user := s.in(t, "user-1", org)
	for _, path := range []string{"/api", "/apis", "/version", "/openapi/v2", "/openapi/v3", "/api/v1/namespaces", "/nothing"} {
		if _, err := user.raw(t, path); !apierrors.IsForbidden(err) {
			t.Errorf("%s without access: %v", path, err)
		}
	}
	s.grant(t, org, "user-1", accessRole)
	for _, path := range []string{"/api", "/apis", "/version", "/openapi/v2", "/openapi/v3"} {
		if _, err := user.raw(t, path); err != nil {
			t.Errorf("%s with access: %v", path, err)
		}
	}
	user.refused(t, "access is not more", user.list(t, "Namespace"), metav1.StatusReasonForbidden, "access denied")
	user.refused(t, "also not to write", user.create(t, "{kind: ConfigMap, metadata: {name: x}}"), metav1.StatusReasonForbidden, "access denied")
}

// rulesReview: what somebody may who may only enter.
func (s *suite) rulesReview(t *testing.T) {
	org := s.organization(t)
	review := func() (*authorizationv1.SelfSubjectRulesReview, error) {
		return s.in(t, "user-1", org).kube.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
			&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	}
	if _, err := review(); !apierrors.IsForbidden(err) {
		t.Errorf("without access: %v", err)
	}
	s.grant(t, org, "user-1", accessRole)
	r, err := review()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rule := range r.Status.ResourceRules {
		for _, resource := range rule.Resources {
			got = append(got, strings.Join(rule.Verbs, ",")+" "+resource+"."+strings.Join(rule.APIGroups, ","))
		}
	}
	for _, rule := range r.Status.NonResourceRules {
		for _, url := range rule.NonResourceURLs {
			got = append(got, strings.Join(rule.Verbs, ",")+" "+url)
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{
		"access /",
		"create selfsubjectaccessreviews.authorization.k8s.io", "create selfsubjectreviews.authentication.k8s.io", "create selfsubjectrulesreviews.authorization.k8s.io",
		"get /api", "get /api/*", "get /apis", "get /apis/*", "get /healthz", "get /livez", "get /openapi", "get /openapi/*", "get /readyz", "get /version", "get /version/",
	}
	equal(t, "rules", strings.Join(want, "\n"), strings.Join(got, "\n"))
	equal(t, "incomplete", false, r.Status.Incomplete)
	_, err = s.in(t, "user-1", org).kube.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{}, metav1.CreateOptions{})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a review without a namespace: %v", err)
	}
}

// globalRoles: roles of system:admin can be bound in every workspace.
func (s *suite) globalRoles(t *testing.T) {
	global, org := s.in(t, privileged, "system:admin"), s.organization(t)
	name := "reader-" + lastOf(org)
	global.must(t, global.create(t, "{kind: ClusterRole, metadata: {name: "+name+"}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [list]}]}"))
	in := s.in(t, admin, org)
	s.grant(t, org, "user-1", accessRole)
	in.must(t, in.create(t, binding("reader", name, "User", "user-1")))
	user := s.in(t, "user-1", org)
	servertest.Eventually(t, "the role is in force", func() (bool, any) {
		r := user.list(t, "ConfigMap")
		return r.err == nil, r.err
	})
	equal(t, "cluster roles in the workspace", "", text(in.must(t, in.list(t, "ClusterRole")), "names"))
	review, err := user.kube.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(review.Status.ResourceRules, func(r authorizationv1.ResourceRule) bool { return slices.Contains(r.Resources, "configmaps") }) {
		t.Errorf("the rules of a role of system:admin show up in a review; got %v", review.Status.ResourceRules)
	}
	global.must(t, global.delete(t, "ClusterRole", name))
}

// requiredGroups: who has to be in which groups to get in.
func (s *suite) requiredGroups(t *testing.T) {
	org := s.organization(t)
	for _, user := range []string{"user-1", "user-2", "user-3"} {
		s.grant(t, org, user, "cluster-admin")
	}
	system := s.in(t, privileged, org)
	const groups = "authorization.kcp.io/required-groups"
	system.must(t, system.patch(t, "LogicalCluster", "cluster", "{metadata: {annotations: {"+groups+": 'team-1,no-team;team-2'}}}"))
	servertest.Eventually(t, "one who has one of two groups is out", func() (bool, any) {
		r := s.in(t, "user-1", org).list(t, "ConfigMap")
		return apierrors.IsForbidden(r.err), r.err
	})
	for user, in := range map[string]bool{"user-1": false, "user-2": true, "user-3": false, admin: true, privileged: true} {
		r := s.in(t, user, org).list(t, "ConfigMap")
		if in != (r.err == nil) || !in && !apierrors.IsForbidden(r.err) {
			t.Errorf("%s: may enter: want %t, got %v", user, in, r.err)
		}
	}
	review, err := s.in(t, admin, org).kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), sar("user-1", nil, "team-1"), metav1.CreateOptions{})
	if err != nil || review.Status.Allowed || !review.Status.Denied {
		t.Errorf("a review says that user-1 is denied; got %+v, %v", review.Status, err)
	}

	s.child(t, org, "child")
	child := s.in(t, privileged, org+":child")
	of := func() string {
		return child.must(t, child.get(t, "LogicalCluster", "cluster")).GetAnnotations()[groups]
	}
	equal(t, "required groups of a new child", "team-1,no-team;team-2", of())
	system.must(t, system.patch(t, "LogicalCluster", "cluster", "{metadata: {annotations: {"+groups+": team-3}}}"))
	servertest.Eventually(t, "the parent lets others in", func() (bool, any) {
		r := s.in(t, "user-3", org).list(t, "ConfigMap")
		return r.err == nil, r.err
	})
	equal(t, "required groups of an old child", "team-1,no-team;team-2", of())
}

// sar asks whether a user may list ConfigMaps.
func sar(user string, extra map[string]authorizationv1.ExtraValue, groups ...string) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: append(groups, "system:authenticated"), Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "list", Resource: "configmaps"},
	}}
}

// reviews: scopes, warrants and foreign service accounts, as reviews see them.
func (s *suite) reviews(t *testing.T) {
	org := s.organization(t)
	s.grant(t, org, "user-1", "cluster-admin")
	in := s.in(t, admin, org)
	own := in.must(t, in.get(t, "LogicalCluster", "cluster")).GetAnnotations()["kcp.io/cluster"]
	in.must(t, in.create(t, binding("group", "cluster-admin", "Group", "managers")))
	in.must(t, in.create(t, binding("foreign", "cluster-admin", "Group", "system:cluster:elsewhere")))
	in.must(t, in.create(t, binding("foreign-account", "cluster-admin", "User", "system:kcp:serviceaccount:elsewhere:default:robot")))
	const scopes, cluster, warrant = "authentication.kcp.io/scopes", "authentication.kcp.io/cluster-name", "authorization.kcp.io/warrant"
	extra := func(key string, values ...string) map[string]authorizationv1.ExtraValue {
		return map[string]authorizationv1.ExtraValue{key: values}
	}
	robot := "system:serviceaccount:default:robot"
	servertest.Eventually(t, "the bindings are in force", func() (bool, any) {
		r, err := in.kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), sar("x", nil, "managers"), metav1.CreateOptions{})
		return err == nil && r.Status.Allowed, r
	})
	for why, c := range map[string]struct {
		review  *authorizationv1.SubjectAccessReview
		allowed bool
	}{
		"an administrator":                         {sar("user-1", nil), true},
		"nobody":                                   {sar("user-5", nil), false},
		"in scope":                                 {sar("user-1", extra(scopes, "cluster:"+own)), true},
		"in one of two scopes":                     {sar("user-1", extra(scopes, "cluster:other,cluster:"+own)), true},
		"out of scope":                             {sar("user-1", extra(scopes, "cluster:other")), false},
		"scopes that exclude each other":           {sar("user-1", extra(scopes, "cluster:"+own, "cluster:other")), false},
		"out of scope, with a warrant":             {sar("user-5", extra(warrant, `{"user":"boss","groups":["managers","system:authenticated"]}`)), true},
		"a warrant that is none":                   {sar("user-5", extra(warrant, `{"user":`)), false},
		"a warrant out of scope":                   {sar("user-5", extra(warrant, `{"user":"boss","groups":["managers"],"extra":{"authentication.kcp.io/scopes":["cluster:other"]}}`)), false},
		"a service account of another cluster":     {sar(robot, extra(cluster, "other"), "managers"), false},
		"a service account of this cluster":        {sar(robot, extra(cluster, own), "managers"), true},
		"a user of another cluster, by its group":  {sar("user-5", extra(scopes, "cluster:elsewhere")), true},
		"a service account elsewhere, by its name": {sar(robot, extra(cluster, "elsewhere")), true},
		"a user who only says a name like that":    {sar("system:serviceaccount:elsewhere:robot", nil), false},
	} {
		r, err := in.kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), c.review, metav1.CreateOptions{})
		if err != nil {
			t.Errorf("%s: %v", why, err)
			continue
		}
		equal(t, why+": allowed", c.allowed, r.Status.Allowed)
	}

	deep := func(caller string) bool {
		config := rest.CopyConfig(s.configOf(t, caller, org))
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return deepReviews{next} })
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		r, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), sar("lister", nil), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Status.Allowed
	}
	in.must(t, in.create(t, "{kind: ClusterRole, metadata: {name: lister}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [list]}]}"))
	in.must(t, in.create(t, binding("lister", "lister", "User", "lister")))
	servertest.Eventually(t, "a deep review looks behind the gate", func() (bool, any) { return deep(privileged), nil })
	equal(t, "a deep review of somebody who may not ask for one", false, deep(admin))
}

// impersonation: an administrator may be others here, and nowhere else.
func (s *suite) impersonation(t *testing.T) {
	org := s.organization(t)
	s.grant(t, org, "user-1", "cluster-admin")
	own := s.in(t, admin, org)
	cluster := own.must(t, own.get(t, "LogicalCluster", "cluster")).GetAnnotations()["kcp.io/cluster"]
	review := func(groups ...string) (authenticationv1.UserInfo, error) {
		config := rest.CopyConfig(s.configOf(t, "user-1", org))
		config.Impersonate = rest.ImpersonationConfig{UserName: "zebra", Groups: groups}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		// Whom one is put on does not get in without access.
		r, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return authenticationv1.UserInfo{}, err
		}
		return r.Status.UserInfo, nil
	}
	for _, group := range []string{
		"system:masters", "system:kcp:admin", "system:kcp:logical-cluster-admin",
		"system:kcp:external-logical-cluster-admin", "system:kcp:tenancy:workspace-bootstrapper",
		"system:kcp:initializer:root:universal", "system:kcp:terminator:root:universal",
	} {
		if _, err := review(group); !apierrors.IsForbidden(err) {
			t.Errorf("impersonating %s: %v", group, err)
		}
	}
	own.must(t, own.create(t, binding("elephants", "cluster-admin", "Group", "elephant")))
	servertest.Eventually(t, "one may be an elephant here, within the scope of this cluster", func() (bool, any) {
		info, err := review("elephant")
		scopes := info.Extra["authentication.kcp.io/scopes"]
		return err == nil && info.Username == "zebra" && slices.Contains(info.Groups, "elephant") && slices.Contains(scopes, "cluster:"+cluster), info
	})
}

// identities: who the users of the kubeconfig are.
func (s *suite) identities(t *testing.T) {
	for caller, want := range map[string]struct {
		workspace string
		groups    []string
	}{
		admin:      {"root", []string{"system:kcp:admin", "system:authenticated"}},
		privileged: {"system:admin", []string{"system:masters", "system:authenticated"}},
		"user-1":   {"root", []string{"team-1", "system:authenticated"}},
	} {
		r, err := s.in(t, caller, want.workspace).kube.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Errorf("%s: %v", caller, err)
			continue
		}
		equal(t, "name", caller, r.Status.UserInfo.Username)
		equal(t, "groups of "+caller, strings.Join(want.groups, " "), strings.Join(r.Status.UserInfo.Groups, " "))
	}
	nobody := s.in(t, anonymous, "root")
	nobody.refused(t, "nobody", nobody.list(t, "Workspace"), metav1.StatusReasonForbidden, "system:anonymous")
	wrong := s.As(t, "garbage", "root")
	client, err := kubernetes.NewForConfig(wrong)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a wrong token is not anonymous: %v", err)
	}
}

// inactive: taken offline, and brought back.
func (s *suite) inactive(t *testing.T) {
	org := s.organization(t)
	ws := s.child(t, org, "ws")
	in := s.in(t, admin, ws)
	watcher, err := in.of(t, "ConfigMap").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	in.must(t, in.patch(t, "LogicalCluster", "cluster", "{metadata: {annotations: {core.kcp.io/inactive: 'true'}}}"))
	for _, caller := range []string{admin, privileged} {
		servertest.Eventually(t, "nobody gets in", func() (bool, any) {
			r := s.in(t, caller, ws).list(t, "ConfigMap")
			return apierrors.IsForbidden(r.err) && strings.Contains(r.err.Error(), "marked inactive"), r.err
		})
	}
	servertest.Eventually(t, "watches end", func() (bool, any) {
		select {
		case event, open := <-watcher.ResultChan():
			return !open, event
		default:
			return false, "open"
		}
	})
	servertest.Eventually(t, "the phase says so", func() (bool, any) {
		phase := text(in.must(t, in.get(t, "LogicalCluster", "cluster")), "status", "phase")
		return phase == "Inactive", phase
	})
	parent := s.in(t, admin, org)
	equal(t, "phase of the workspace", "Ready", text(parent.must(t, parent.get(t, "Workspace", "ws")), "status", "phase"))
	in.must(t, in.patch(t, "LogicalCluster", "cluster", "{metadata: {annotations: {core.kcp.io/inactive: null}}}"))
	servertest.Eventually(t, "it is back", func() (bool, any) {
		r := in.list(t, "ConfigMap")
		return r.err == nil, r.err
	})
}
