package hookcontent

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var permissions = map[string]behavior{
	"Rules":           {"37: what a rule allows passes, anything else is 403, and the caller is who he is", rulesDecide},
	"RuleEdits":       {"37: edits of the rules act at once, in both directions", editsAct},
	"Recorded":        {"who has written for a hook is remembered, be it as somebody else", recorded},
	"ServiceAccount":  {"37: controllers run with service accounts of the workspace of their type", serviceAccountActs},
	"EachByItsOwn":    {"39: of two types each hook is judged by its own rules only", eachByItsOwn},
	"AdminsToo":       {"37: the permissions of the type are those of everybody who acts for its hook", adminsToo},
	"Reviews":         {"37: who asks what he may do is told what the rules say", reviewsAnswerByRules},
	"ReviewOfOthers":  {"37: others are judged by the policy of the workspace, as always", reviewsOfOthers},
	"NestedWorkspace": {"37: what is created for a hook belongs to its controller, without the mark of the hook", nestedWorkspace},
}

func rulesDecide(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	hook := s.hook(t, controller, initializing, "ruled", cluster)

	_, err := hook.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
	created, err := hook.CoreV1().ConfigMaps("work").Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	must(t, err)
	created.Data = map[string]string{"k": "v"}
	_, err = hook.CoreV1().ConfigMaps("work").Update(t.Context(), created, metav1.UpdateOptions{})
	must(t, err)
	list, err := hook.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if !slices.ContainsFunc(list.Items, func(cm corev1.ConfigMap) bool { return cm.Name == "a" && cm.Annotations["kcp.io/cluster"] == cluster }) {
		t.Errorf("got %v", list.Items)
	}

	base := s.at(initializing, "ruled", cluster)
	for url, texts := range map[string][]string{
		"/api/v1/namespaces/work/secrets":                 {"initializerPermissions", "list on secrets"},
		"/api/v1/namespaces/work/secrets/two":             {"initializerPermissions", `get on secrets "two"`},
		"/apis/apps/v1/deployments":                       {"initializerPermissions", "list on apps/deployments"},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles": {"initializerPermissions", "list on rbac.authorization.k8s.io/clusterroles"},
		"/openapi/v3": {"initializerPermissions", `get on path "/openapi/v3"`},
	} {
		s.send(t, controller, http.MethodGet, base+url, "", nil).check(t, http.StatusForbidden, texts...)
	}
	// Discovery is that of the workspace.
	if got := s.send(t, controller, http.MethodGet, base+"/api/v1", "", nil); got.code != http.StatusOK {
		t.Errorf("got %d %s", got.code, got.body)
	}

	who, err := hook.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	must(t, err)
	want := authenticationv1.UserInfo{
		Username: controllerName, UID: "1111-1",
		Groups: []string{"system:kcp:initializer:" + s.id("ruled"), "team-1", "system:authenticated"},
	}
	if diff := cmp.Diff(want, who.Status.UserInfo); diff != "" {
		t.Errorf("who acts (-want +got):\n%s", diff)
	}
}

func editsAct(t *testing.T, s *suite) {
	s.create(t, s.types, `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: edited}
  spec:
    initializer: true
    initializerPermissions: [{apiGroups: [""], resources: [namespaces], verbs: [list]}]
`)
	cluster := s.newborn(t, "edited").Spec.Cluster
	base := s.at(initializing, "edited", cluster)
	if got := s.send(t, controller, http.MethodGet, base+"/api/v1/namespaces", "", nil); got.code != http.StatusOK {
		t.Fatalf("got %d %s", got.code, got.body)
	}
	s.patchType(t, "edited", `{"spec":{"initializerPermissions":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}}`)
	s.send(t, controller, http.MethodGet, base+"/api/v1/namespaces", "", nil).check(t, http.StatusForbidden, "initializerPermissions")
	if got := s.send(t, controller, http.MethodGet, base+"/api/v1/configmaps", "", nil); got.code != http.StatusOK {
		t.Errorf("got %d %s", got.code, got.body)
	}
	must(t, s.admin(t, s.types).Resource(workspacetypes).Delete(t.Context(), "edited", metav1.DeleteOptions{}))
	s.send(t, controller, http.MethodGet, base+"/api/v1/configmaps", "", nil).check(t, http.StatusServiceUnavailable, s.id("edited"))
}

func recorded(t *testing.T, s *suite) {
	cluster := s.newborn(t, "both").Spec.Cluster
	for _, workspaceType := range []string{"ruled", "trusted"} {
		_, err := s.hook(t, controller, initializing, workspaceType, cluster).CoreV1().Namespaces().
			Create(t.Context(), namespace("by-"+workspaceType), metav1.CreateOptions{})
		must(t, err)
		servertest.Eventually(t, "the write for "+workspaceType+" is recorded", func() (bool, any) {
			lc, err := s.admin(t, cluster).Resource(logicalclusters).Get(t.Context(), "cluster", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			var records map[string]struct{ By string }
			must(t, json.Unmarshal([]byte(lc.GetAnnotations()["internal.tenancy.kcp.io/hooks"]), &records))
			return records["i:"+s.id(workspaceType)].By == controllerName, records
		})
	}
}

func serviceAccountActs(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	hook := s.hook(t, s.account, initializing, "ruled", cluster)
	_, err := hook.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
	_, err = hook.CoreV1().ConfigMaps("work").Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	must(t, err)
	_, err = hook.CoreV1().Secrets("work").List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "initializerPermissions")
	// Without the hook it is nobody there.
	_, err = s.kube(t, s.server.As(t, s.account, cluster)).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "access denied")
}

func eachByItsOwn(t *testing.T, s *suite) {
	cluster := s.newborn(t, "both").Spec.Cluster
	ruled, trusted := s.at(initializing, "ruled", cluster), s.at(initializing, "trusted", cluster)
	s.send(t, controller, http.MethodGet, ruled+"/api/v1/secrets", "", nil).check(t, http.StatusForbidden, "initializerPermissions")
	if got := s.send(t, controller, http.MethodGet, trusted+"/api/v1/secrets", "", nil); got.code != http.StatusOK {
		t.Errorf("got %d %s", got.code, got.body)
	}
	// The type that extends both has no hook of its own.
	s.send(t, controller, http.MethodGet, s.at(initializing, "both", cluster)+"/api/v1/namespaces", "", nil).
		check(t, http.StatusForbidden, "cannot access this workspace")

	s.release(t, initializing, "trusted", cluster)
	s.send(t, controller, http.MethodGet, trusted+"/api/v1/secrets", "", nil).check(t, http.StatusForbidden, "cannot access this workspace")
	if got := s.send(t, controller, http.MethodGet, ruled+"/api/v1/namespaces", "", nil); got.code != http.StatusOK {
		t.Errorf("it is still the turn of the other: got %d %s", got.code, got.body)
	}
}

func adminsToo(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	config := s.through(t, "", initializing, "ruled", cluster)
	admin := s.server.In(t, "base", "root")
	config.BearerToken, config.TLSClientConfig = admin.BearerToken, admin.TLSClientConfig
	_, err := s.kube(t, config).CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "initializerPermissions")
	s.send(t, master, http.MethodGet, s.at(initializing, "ruled", cluster)+"/api/v1/secrets", "", nil).
		check(t, http.StatusForbidden, "initializerPermissions")
}

func reviewsAnswerByRules(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	hook := s.hook(t, controller, initializing, "ruled", cluster)
	for resource, want := range map[string]bool{"configmaps": true, "secrets": false} {
		review, err := hook.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: resource, Namespace: "work"}},
		}, metav1.CreateOptions{})
		must(t, err)
		if review.Status.Allowed != want {
			t.Errorf("%s: got %v", resource, review.Status)
		}
	}
	rules, err := hook.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "work"},
	}, metav1.CreateOptions{})
	must(t, err)
	if got := len(rules.Status.ResourceRules); got != 7 {
		t.Errorf("the type has 7 rules for resources, the review %d: %v", got, rules.Status.ResourceRules)
	}
}

func reviewsOfOthers(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	hook := s.hook(t, controller, initializing, "ruled", cluster)
	for user, want := range map[string]bool{creatorName: true, visitorName: false, controllerName: false} {
		review, err := hook.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user, Groups: []string{"system:authenticated"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: "work"},
			},
		}, metav1.CreateOptions{})
		must(t, err)
		if review.Status.Allowed != want {
			t.Errorf("%s: got %v", user, review.Status)
		}
	}
	// Nor does the mark alone help anybody outside of the hook's requests.
	review, err := s.kube(t, s.server.In(t, "base", cluster)).AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: controllerName, Groups: []string{"system:authenticated", "system:kcp:initializer:" + s.id("ruled")},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: "work"},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	if review.Status.Allowed {
		t.Errorf("got %v", review.Status)
	}
}

func nestedWorkspace(t *testing.T, s *suite) {
	// Workspaces can be created where tenancy.kcp.io is bound.
	s.create(t, s.types, `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: nesting}
  spec:
    initializer: true
    extend: {with: [{name: universal, path: root}]}
    initializerPermissions: [{apiGroups: [tenancy.kcp.io], resources: [workspaces], verbs: [create, get]}]
`)
	cluster := s.newborn(t, "nesting").Spec.Cluster
	config := s.through(t, controller, initializing, "nesting", cluster)
	nested := create(t, config, workspaces, "Workspace", "nested", nil)
	owner := nested.GetAnnotations()[tenancyv1alpha1.OwnerAnnotationKey]
	if want := `{"username":"user-1","uid":"1111-1","groups":["team-1","system:authenticated"]}`; owner != want {
		t.Errorf("the owner is %s, want %s", owner, want)
	}
}
