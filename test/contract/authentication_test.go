package contract

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

var authentication = map[string]behavior{
	"Kubeconfig":          {"the kubeconfig of the admins has the contexts that tools know by name", kubeconfigContexts},
	"Administrators":      {"the administrators are who the documentation says they are", administrators},
	"Garbage":             {"a wrong token is not no token", garbage},
	"ImpersonateMasters":  {"nobody becomes what he is not above his workspace", impersonateMasters},
	"ImpersonateIsScoped": {"whom a workspace admin becomes counts in that workspace only", impersonateIsScoped},
	"ImpersonateByMaster": {"whom a privileged user becomes counts everywhere", impersonateByMaster},
	"ImpersonateNobody":   {"impersonation takes the right to do it", impersonateNobody},
}

func kubeconfigContexts(t *testing.T, s *suite) {
	config, err := clientcmd.LoadFromFile(s.server.Kubeconfig)
	ok(t, err)
	url, found := s.server.URL(), map[string][]string{}
	for name, context := range config.Contexts {
		found[name] = []string{config.Clusters[context.Cluster].Server, context.AuthInfo}
	}
	want := map[string][]string{
		"root":         {url + "/clusters/root", "kcp-admin"},
		"base":         {url, "kcp-admin"},
		"system:admin": {url + "/clusters/system:admin", "shard-admin"},
		"shard-base":   {url, "shard-admin"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if config.CurrentContext != "root" {
		t.Errorf("the current context is %q", config.CurrentContext)
	}
}

// self returns who the caller is.
func (c caller) self() (authenticationv1.UserInfo, error) {
	c.t.Helper()
	review, err := c.kube().AuthenticationV1().SelfSubjectReviews().Create(c.t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

func administrators(t *testing.T, s *suite) {
	for _, test := range []struct{ token, name, group string }{
		{s.admin, "kcp-admin", "system:kcp:admin"},
		{s.master, "shard-admin", "system:masters"},
	} {
		info, err := s.as(t, test.token, "root").self()
		ok(t, err)
		groups := slices.Sorted(slices.Values(info.Groups))
		if info.Username != test.name || !slices.Equal(groups, slices.Sorted(slices.Values([]string{test.group, "system:authenticated"}))) {
			t.Errorf("got %s in %v", info.Username, groups)
		}
	}
}

func garbage(t *testing.T, s *suite) {
	for _, workspace := range []string{"", "root", "abcdefgh1234"} {
		got(t, s.as(t, "garbage", workspace).get("/api"), 401)
		got(t, s.as(t, "", workspace).get("/api"), 403)
	}
}

func impersonateMasters(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for _, group := range []string{
		"system:masters", "system:kcp:admin", "system:kcp:logical-cluster-admin", "system:kcp:external-logical-cluster-admin",
		"system:kcp:tenancy:workspace-bootstrapper", "system:kcp:initializer:root:universal", "system:kcp:terminator:root:universal",
	} {
		// The user himself has access, so the group is all that can be wrong.
		_, err := inside.like(aliceName, []string{group}, nil).self()
		refused(t, err, 403, "impersonation is not allowed")
	}
}

const scopesKey = "authentication.kcp.io/scopes"

func impersonateIsScoped(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	info, err := inside.like(aliceName, []string{"elephant"}, nil).self()
	ok(t, err)
	cluster := inside.cluster().Annotations["kcp.io/cluster"]
	if !slices.Contains(info.Groups, "elephant") || !slices.Contains(info.Extra[scopesKey], "cluster:"+cluster) {
		t.Errorf("got %v, want the scope %s", info, cluster)
	}
}

func impersonateByMaster(t *testing.T, s *suite) {
	info, err := s.as(t, s.master, "root").like("somebody", []string{"elephant"}, nil).self()
	ok(t, err)
	if info.Username != "somebody" || len(info.Extra[scopesKey]) != 0 {
		t.Errorf("got %v", info)
	}
}

func impersonateNobody(t *testing.T, s *suite) {
	_, err := s.as(t, bob, "root").like("somebody", nil, nil).self()
	refused(t, err, 403, "impersonate")
}
