package contract

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var accounts = map[string]behavior{
	"Born":             {"a workspace is born with the account and the certificates of each namespace", accountsBorn},
	"LaterNamespace":   {"a namespace that is made later gets the same, and what is deleted or changed comes back", accountsLater},
	"EndingNamespace":  {"a namespace that ends gets nothing any more", accountsEnding},
	"Lifecycle":        {"service accounts are objects like others", accountLifecycle},
	"Home":             {"an account enters its own workspace, may do what is bound to it, and says where it is from", accountHome},
	"Away":             {"elsewhere an account counts as somebody who is authenticated, not as a service account", accountAway},
	"AwayByGroup":      {"elsewhere an account can be known by the cluster it is from", accountAwayByGroup},
	"AwayByName":       {"elsewhere an account can be known by its full name", accountAwayByName},
	"Placeless":        {"who has an address and a token only needs no place", accountPlaceless},
	"BoundTokens":      {"a token is good as long as the secret it is bound to", boundTokens},
	"DeletedAccount":   {"a token is good as long as its account, not one of its name", deletedAccount},
	"LegacyTokens":     {"a secret can hold a token that has no end but its own", legacyTokens},
	"LegacyOrphans":    {"no secret holds the token of an account that is not there", legacyOrphans},
	"LegacyReferences": {"an account does not name secrets that are gone", legacyReferences},
	"TokenReviews":     {"others can ask whose token they were shown, and for whom it was meant", tokenReviews},
	"IssuerDiscovery":  {"others can find out how to check tokens by themselves", issuerDiscovery},
}

// account makes a service account in the namespace default.
func (c caller) account(name string) *corev1.ServiceAccount {
	c.t.Helper()
	created, err := c.kube().CoreV1().ServiceAccounts("default").Create(c.t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	ok(c.t, err)
	return created
}

// request asks for a token of an account in the namespace default.
func (c caller) request(name string, spec authenticationv1.TokenRequestSpec) (string, error) {
	c.t.Helper()
	request, err := c.kube().CoreV1().ServiceAccounts("default").CreateToken(c.t.Context(), name,
		&authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

// token returns a token of an account in the namespace default.
func (c caller) token(name string) string {
	c.t.Helper()
	token, err := c.request(name, authenticationv1.TokenRequestSpec{})
	ok(c.t, err)
	return token
}

// legacy makes a secret that is to hold the token of an account, and returns it when it
// does.
func (c caller) legacy(name, account string) *corev1.Secret {
	c.t.Helper()
	secrets := c.kube().CoreV1().Secrets("default")
	_, err := secrets.Create(c.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: account}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	ok(c.t, err)
	var filled *corev1.Secret
	eventually(c.t, "the secret is filled", func() error {
		if filled, err = secrets.Get(c.t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if len(filled.Data[corev1.ServiceAccountTokenKey]) == 0 {
			return errors.New("there is no token in it")
		}
		return nil
	})
	return filled
}

// allowed waits until the caller may list namespaces.
func (c caller) allowed(what string) {
	c.t.Helper()
	eventually(c.t, what, func() error {
		if a := c.get("/api/v1/namespaces"); a.code != http.StatusOK {
			return fmt.Errorf("got %d %s", a.code, a.body)
		}
		return nil
	})
}

// unauthorized waits until the caller is nobody.
func (c caller) unauthorized(what string) {
	c.t.Helper()
	eventually(c.t, what, func() error {
		if a := c.get("/api"); a.code != http.StatusUnauthorized {
			return fmt.Errorf("got %d %s", a.code, a.body)
		}
		return nil
	})
}

// complete returns nil if a namespace has what each has.
func (c caller) complete(namespace string) error {
	if _, err := c.kube().CoreV1().ServiceAccounts(namespace).Get(c.t.Context(), "default", metav1.GetOptions{}); err != nil {
		return err
	}
	rootCA, err := c.kube().CoreV1().ConfigMaps(namespace).Get(c.t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if rootCA.Data["ca.crt"] == "" || rootCA.Annotations["kubernetes.io/description"] == "" {
		return fmt.Errorf("the certificates are %v", rootCA)
	}
	return nil
}

func accountsBorn(t *testing.T, s *suite) {
	inside := s.as(t, s.admin, s.universal(t))
	for _, namespace := range []string{"default", "kube-system"} {
		// At once: there is nothing to wait for.
		ok(t, inside.complete(namespace))
	}
	ok(t, s.as(t, s.admin, "root").complete("default"))
	all, err := inside.kube().CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	if len(all.Items) != 0 {
		t.Errorf("nobody asked for %v", all.Items)
	}
	// They know the server by these.
	rootCA, err := inside.kube().CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
	ok(t, err)
	trusting := s.as(t, s.admin, "root")
	trusting.config.CAFile, trusting.config.CAData = "", []byte(rootCA.Data["ca.crt"])
	got(t, trusting.get("/api"), 200)
}

func accountsLater(t *testing.T, s *suite) {
	inside := s.as(t, s.admin, s.universal(t))
	core := inside.kube().CoreV1()
	_, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "later"}}, metav1.CreateOptions{})
	ok(t, err)
	for _, namespace := range []string{"later", "default"} {
		eventually(t, namespace+" has everything", func() error { return inside.complete(namespace) })
		before, err := core.ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
		ok(t, err)
		ok(t, core.ServiceAccounts(namespace).Delete(t.Context(), "default", metav1.DeleteOptions{}))
		eventually(t, "another account takes the place of the one deleted", func() error {
			after, err := core.ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
			if err == nil && after.UID == before.UID {
				err = errors.New("it is still the same")
			}
			return err
		})
		ok(t, core.ConfigMaps(namespace).Delete(t.Context(), "kube-root-ca.crt", metav1.DeleteOptions{}))
		eventually(t, "the certificates come back", func() error { return inside.complete(namespace) })
		for _, patch := range []string{`{"data":{"ca.crt":""}}`, `{"data":{"other":"a"}}`, `{"data":null}`} {
			_, err = core.ConfigMaps(namespace).Patch(t.Context(), "kube-root-ca.crt", apitypes.MergePatchType, []byte(patch), metav1.PatchOptions{})
			ok(t, err)
			eventually(t, "the certificates are changed back", func() error {
				rootCA, err := core.ConfigMaps(namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
				if err == nil && (len(rootCA.Data) != 1 || rootCA.Data["ca.crt"] == "") {
					err = fmt.Errorf("they are %v", rootCA.Data)
				}
				return err
			})
		}
		// The rest belongs to whoever wants it.
		_, err = core.ConfigMaps(namespace).Patch(t.Context(), "kube-root-ca.crt", apitypes.MergePatchType,
			[]byte(`{"metadata":{"labels":{"mine":"kept"}},"data":{"ca.crt":"x"}}`), metav1.PatchOptions{})
		ok(t, err)
		eventually(t, "the certificates are changed back, and nothing else", func() error {
			rootCA, err := core.ConfigMaps(namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
			if err == nil && (rootCA.Data["ca.crt"] == "x" || rootCA.Labels["mine"] != "kept") {
				err = fmt.Errorf("it is %v", rootCA)
			}
			return err
		})
	}
}

func accountsEnding(t *testing.T, s *suite) {
	inside := s.as(t, s.admin, s.universal(t))
	core := inside.kube().CoreV1()
	_, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ending"}}, metav1.CreateOptions{})
	ok(t, err)
	eventually(t, "the namespace has everything", func() error { return inside.complete("ending") })
	_, err = core.ConfigMaps("ending").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.dev/hold"}}}, metav1.CreateOptions{})
	ok(t, err)
	ok(t, core.Namespaces().Delete(t.Context(), "ending", metav1.DeleteOptions{}))
	eventually(t, "only what is held is left", func() error {
		maps, err := core.ConfigMaps("ending").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		accounts, err := core.ServiceAccounts("ending").List(t.Context(), metav1.ListOptions{})
		if err == nil && (len(maps.Items) != 1 || len(accounts.Items) != 0) {
			err = fmt.Errorf("there are %v and %v", maps.Items, accounts.Items)
		}
		return err
	})
	_, err = core.ConfigMaps("ending").Patch(t.Context(), "held", apitypes.MergePatchType, setFinalizers(), metav1.PatchOptions{})
	ok(t, err)
	eventually(t, "the namespace goes", func() error {
		_, err := core.Namespaces().Get(t.Context(), "ending", metav1.GetOptions{})
		return missing(err)
	})
}

func accountLifecycle(t *testing.T, s *suite) {
	inside := s.as(t, s.admin, s.universal(t))
	all := inside.kube().CoreV1().ServiceAccounts("default")
	created, err := all.Create(t.Context(), &corev1.ServiceAccount{
		ObjectMeta:                   metav1.ObjectMeta{Name: "robot", Labels: map[string]string{"test": "lifecycle"}},
		AutomountServiceAccountToken: ptr.To(false),
	}, metav1.CreateOptions{})
	ok(t, err)
	patched, err := all.Patch(t.Context(), "robot", apitypes.StrategicMergePatchType, []byte(`{"automountServiceAccountToken":true}`), metav1.PatchOptions{})
	ok(t, err)
	if patched.UID != created.UID || !*patched.AutomountServiceAccountToken {
		t.Errorf("got %v", patched)
	}
	patched.Labels["more"] = "yes"
	_, err = all.Update(t.Context(), patched, metav1.UpdateOptions{})
	ok(t, err)
	found, err := inside.kube().CoreV1().ServiceAccounts("").List(t.Context(), metav1.ListOptions{LabelSelector: "test=lifecycle,more=yes"})
	ok(t, err)
	if len(found.Items) != 1 || found.Items[0].UID != created.UID {
		t.Errorf("found %v", found.Items)
	}
	ok(t, all.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "test=lifecycle"}))
	_, err = all.Get(t.Context(), "robot", metav1.GetOptions{})
	refused(t, err, 404)
}

const clusterNameKey = "authentication.kcp.io/cluster-name"

func accountHome(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	robot := s.as(t, admin.token("robot"), path)
	// It needs nobody's leave to enter, and somebody's to do something.
	got(t, robot.get("/api"), 200)
	got(t, robot.get("/api/v1/namespaces"), 403, "access denied")
	info, err := robot.self()
	ok(t, err)
	cluster := admin.cluster().Annotations["kcp.io/cluster"]
	groups := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:default"}
	if info.Username != "system:serviceaccount:default:robot" || !slices.Equal(slices.Sorted(slices.Values(info.Groups)), groups) ||
		!slices.Equal(info.Extra[scopesKey], []string{"cluster:" + cluster}) || !slices.Equal(info.Extra[clusterNameKey], []string{cluster}) {
		t.Errorf("got %v", info)
	}
	admin.bind("cluster-admin", serviceAccount("robot"))
	robot.allowed("the account is known at home")
	// Required groups are not asked of it.
	requireGroups(t, s.as(t, s.master, path), "somebody-else")
	robot.allowed("the account is not held to groups")
}

func serviceAccount(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: name}
}

var listNamespaces = rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"namespaces"}}

// abroad returns an account of one workspace in another, and the administrator of that.
func (s *suite) abroad(t *testing.T) (robot, away caller, origin string) {
	t.Helper()
	home, other := s.universal(t), s.universal(t)
	atHome := s.as(t, s.admin, home)
	atHome.account("robot")
	away = s.as(t, s.admin, other)
	away.account("robot")
	return s.as(t, atHome.token("robot"), other), away, atHome.cluster().Annotations["kcp.io/cluster"]
}

func accountAway(t *testing.T, s *suite) {
	robot, away, _ := s.abroad(t)
	// It is neither the account of its name there nor a service account.
	away.bind("cluster-admin", serviceAccount("robot"))
	away.allow(group("system:serviceaccounts"), accessRule, listNamespaces)
	away.allow(group("system:serviceaccounts:default"), accessRule, listNamespaces)
	got(t, robot.get("/api/v1/namespaces"), 403, "access denied")
	away.allow(group("system:authenticated"), accessRule, listNamespaces)
	robot.allowed("who is authenticated is let in")
	ok(t, away.kube().RbacV1().ClusterRoleBindings().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	eventually(t, "nobody is let in any more", func() error {
		if a := robot.get("/api/v1/namespaces"); a.code != http.StatusForbidden {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
}

func accountAwayByGroup(t *testing.T, s *suite) {
	robot, away, origin := s.abroad(t)
	away.allow(group("system:cluster:"+origin), listNamespaces)
	got(t, robot.get("/api/v1/namespaces"), 403, "access denied")
	away.allow(group("system:cluster:"+origin), accessRule)
	robot.allowed("the group of its cluster is let in")
}

func accountAwayByName(t *testing.T, s *suite) {
	robot, away, origin := s.abroad(t)
	away.allow(user("system:kcp:serviceaccount:"+origin+":default:other"), accessRule, listNamespaces)
	got(t, robot.get("/api/v1/namespaces"), 403, "access denied")
	away.allow(user("system:kcp:serviceaccount:"+origin+":default:robot"), accessRule, listNamespaces)
	robot.allowed("it is let in under its full name")
}

func accountPlaceless(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	admin.bind("cluster-admin", serviceAccount("robot"))
	cluster := admin.cluster().Annotations["kcp.io/cluster"]
	for name, token := range map[string]string{
		"requested": admin.token("robot"),
		"legacy":    string(admin.legacy("robot-token", "robot").Data["token"]),
	} {
		robot := s.as(t, token, "")
		robot.allowed("a " + name + " token is sent home")
		all, err := robot.kube().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		ok(t, err)
		for _, namespace := range all.Items {
			if namespace.Annotations["kcp.io/cluster"] != cluster {
				t.Errorf("it ended in %v", namespace.Annotations)
			}
		}
		got(t, robot.get("/version"), 200)
		got(t, robot.get("/readyz"), 200)
		// Who has found the place is believed, and this one did not.
		got(t, robot.get("/api/v1/namespaces", "X-Kubernetes-Sharded-Request: true"), 403)
		// It is about the process, which is none of the workspace's business.
		got(t, robot.get("/metrics"), 403)
		got(t, robot.get("/services/apiexport/api"), 403)
	}
	got(t, s.as(t, s.admin, "").get("/api/v1/namespaces"), 403)
}

func boundTokens(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	bound := func(kind, name string, uid apitypes.UID) (string, error) {
		return admin.request("robot", authenticationv1.TokenRequestSpec{
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: kind, Name: name, UID: uid},
		})
	}
	_, err := bound("Pod", "none", "")
	refused(t, err, 404, `pods "none" not found`)
	_, err = bound("Node", "none", "")
	refused(t, err, 404, `nodes "none" not found`)
	_, err = bound("ConfigMap", "kube-root-ca.crt", "")
	refused(t, err, 400, "cannot bind token")
	_, err = bound("Secret", "none", "")
	refused(t, err, 404)

	secrets := admin.kube().CoreV1().Secrets("default")
	secret, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "anchor"}}, metav1.CreateOptions{})
	ok(t, err)
	_, err = bound("Secret", "anchor", "another")
	refused(t, err, 409)
	token, err := bound("Secret", "anchor", secret.UID)
	ok(t, err)
	got(t, s.as(t, token, path).get("/api"), 200)
	ok(t, secrets.Delete(t.Context(), "anchor", metav1.DeleteOptions{}))
	_, err = secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "anchor"}}, metav1.CreateOptions{})
	ok(t, err)
	s.as(t, token, path).unauthorized("another secret of the name is another one")
	_, err = admin.request("robot", authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](599)})
	refused(t, err, 422, "10 minutes")
}

func deletedAccount(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	token := admin.token("robot")
	got(t, s.as(t, token, path).get("/api"), 200)
	ok(t, admin.kube().CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", metav1.DeleteOptions{}))
	admin.account("robot")
	s.as(t, token, path).unauthorized("another account of the name is another one")
	// Where it is shown does not matter.
	s.as(t, token, "root").unauthorized("it is no token anywhere")
	got(t, s.as(t, admin.token("robot"), path).get("/api"), 200)
}

const lastUsedLabel = "kubernetes.io/legacy-token-last-used"

func legacyTokens(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	account := admin.account("robot")
	secret := admin.legacy("robot-token", "robot")
	if secret.Annotations[corev1.ServiceAccountUIDKey] != string(account.UID) || string(secret.Data["namespace"]) != "default" ||
		len(secret.Data["ca.crt"]) == 0 {
		t.Errorf("the secret is %v", secret)
	}
	if secret.Labels[lastUsedLabel] != "" {
		t.Error("nobody has used it yet")
	}
	robot := s.as(t, string(secret.Data["token"]), path)
	info, err := robot.self()
	ok(t, err)
	cluster := admin.cluster().Annotations["kcp.io/cluster"]
	if info.Username != "system:serviceaccount:default:robot" || info.UID != string(account.UID) ||
		!slices.Equal(info.Extra[scopesKey], []string{"cluster:" + cluster}) || !slices.Equal(info.Extra[clusterNameKey], []string{cluster}) {
		t.Errorf("got %v", info)
	}
	secrets := admin.kube().CoreV1().Secrets("default")
	used, err := secrets.Get(t.Context(), "robot-token", metav1.GetOptions{})
	ok(t, err)
	if used.Labels[lastUsedLabel] == "" || string(used.Data["token"]) != string(secret.Data["token"]) {
		t.Errorf("nobody can see that it was used: %v", used)
	}
	// What is taken out is put back; the token is another one then.
	_, err = secrets.Patch(t.Context(), "robot-token", apitypes.MergePatchType, []byte(`{"data":{"ca.crt":null,"namespace":null}}`), metav1.PatchOptions{})
	ok(t, err)
	eventually(t, "the secret is filled again", func() error {
		secret, err := secrets.Get(t.Context(), "robot-token", metav1.GetOptions{})
		if err == nil && (len(secret.Data["ca.crt"]) == 0 || len(secret.Data["namespace"]) == 0) {
			err = errors.New("not yet")
		}
		return err
	})
	got(t, robot.get("/api"), 200)
	ok(t, secrets.Delete(t.Context(), "robot-token", metav1.DeleteOptions{}))
	robot.unauthorized("the token goes with its secret")
}

func legacyOrphans(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	secret := admin.legacy("robot-token", "robot")
	ok(t, admin.kube().CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", metav1.DeleteOptions{}))
	gone := func(name string) {
		t.Helper()
		eventually(t, "the secret goes with its account", func() error {
			_, err := admin.kube().CoreV1().Secrets("default").Get(t.Context(), name, metav1.GetOptions{})
			return missing(err)
		})
	}
	gone("robot-token")
	s.as(t, string(secret.Data["token"]), path).unauthorized("and so does the token")
	_, err := admin.kube().CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "nobody-token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "nobody"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	ok(t, err)
	gone("nobody-token")
}

func legacyReferences(t *testing.T, s *suite) {
	admin := s.as(t, s.admin, s.universal(t))
	account := admin.account("robot")
	admin.legacy("robot-token", "robot")
	all := admin.kube().CoreV1().ServiceAccounts("default")
	account.Secrets = []corev1.ObjectReference{{Name: "robot-token"}, {Name: "other"}}
	_, err := all.Update(t.Context(), account, metav1.UpdateOptions{})
	ok(t, err)
	ok(t, admin.kube().CoreV1().Secrets("default").Delete(t.Context(), "robot-token", metav1.DeleteOptions{}))
	eventually(t, "the account forgets the secret", func() error {
		account, err := all.Get(t.Context(), "robot", metav1.GetOptions{})
		if err == nil && (len(account.Secrets) != 1 || account.Secrets[0].Name != "other") {
			err = fmt.Errorf("it has %v", account.Secrets)
		}
		return err
	})
}

func tokenReviews(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	reviewed := func(token string, audiences ...string) authenticationv1.TokenReviewStatus {
		t.Helper()
		review, err := admin.kube().AuthenticationV1().TokenReviews().Create(t.Context(),
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}, metav1.CreateOptions{})
		ok(t, err)
		return review.Status
	}
	cluster := admin.cluster().Annotations["kcp.io/cluster"]
	known := reviewed(admin.token("robot"))
	if !known.Authenticated || known.Error != "" || known.User.Username != "system:serviceaccount:default:robot" ||
		!slices.Equal(known.User.Extra[clusterNameKey], []string{cluster}) || !slices.Equal(known.User.Extra[scopesKey], []string{"cluster:" + cluster}) ||
		!slices.Equal(known.Audiences, []string{"https://kcp.default.svc"}) {
		t.Errorf("got %v", known)
	}
	vault, err := admin.request("robot", authenticationv1.TokenRequestSpec{Audiences: []string{"vault", "https://kcp.default.svc"}})
	ok(t, err)
	if status := reviewed(vault, "vault", "elsewhere"); !status.Authenticated || !slices.Equal(status.Audiences, []string{"vault"}) {
		t.Errorf("a token for vault: %v", status)
	}
	if status := reviewed(vault, "elsewhere"); status.Authenticated || status.Error == "" {
		t.Errorf("a token for vault, elsewhere: %v", status)
	}
	only, err := admin.request("robot", authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}})
	ok(t, err)
	got(t, s.as(t, only, path).get("/api"), 401)
	if status := reviewed("garbage"); status.Authenticated || status.Error == "" {
		t.Errorf("garbage: %v", status)
	}
	// Tokens are those of the installation, so any workspace knows them.
	elsewhere := s.as(t, s.admin, s.universal(t))
	review, err := elsewhere.kube().AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: admin.token("robot")}}, metav1.CreateOptions{})
	ok(t, err)
	if !review.Status.Authenticated || !slices.Equal(review.Status.User.Extra[clusterNameKey], []string{cluster}) {
		t.Errorf("elsewhere: %v", review.Status)
	}
}

func issuerDiscovery(t *testing.T, s *suite) {
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	robot := s.as(t, admin.token("robot"), path)
	type configuration struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	found := read[configuration](t, robot.get("/.well-known/openid-configuration"))
	if found.Issuer != "https://kcp.default.svc" || found.Keys != s.server.URL()+"/openid/v1/jwks" {
		t.Errorf("got %v", found)
	}
	keys := robot.get("/openid/v1/jwks", "Accept: */*")
	got(t, keys, 200, `"kid"`, `"ES256"`)
	if kind := keys.header.Get("Content-Type"); kind != "application/jwk-set+json" {
		t.Errorf("it is %s", kind)
	}
	// What the document names can be had by who reads it.
	got(t, s.as(t, admin.token("robot"), "").get("/openid/v1/jwks", "Accept: */*"), 200, `"kid"`)
	got(t, s.as(t, s.master, "").get("/.well-known/openid-configuration"), 200)
	got(t, s.as(t, alice, path).get("/openid/v1/jwks"), 403)
	got(t, s.as(t, s.admin, "").get("/openid/v1/jwks"), 403)
	got(t, s.as(t, "", path).get("/openid/v1/jwks"), 403)
	if _, err := admin.kube().CoreV1().ServiceAccounts("default").Get(t.Context(), "robot", metav1.GetOptions{}); apierrors.IsNotFound(err) {
		t.Error("the account is gone, which explains the answers")
	}
}
