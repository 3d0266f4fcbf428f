package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var urls = map[string]behavior{
	"Health":               {"health is everybody's to ask, its details are not", health},
	"Version":              {"only a workspace, or nobody's restriction, gives the right to ask the version", version},
	"BadName":              {"names that cannot be are told apart from those that are not there", badName},
	"UnknownPath":          {"an unknown path is not found, and names nothing else", unknownPath},
	"UnknownName":          {"an unknown name is denied, but to those whom nothing is denied", unknownName},
	"PathAndName":          {"a workspace is the same by path and by name", pathAndName},
	"RelativeToName":       {"a path may begin with the name of a cluster", relativeToName},
	"DoublePrefix":         {"only one prefix is taken off", doublePrefix},
	"WorkspaceMetrics":     {"what the process measures is nobody's workspace", workspaceMetrics},
	"Metrics":              {"who may read metrics is root's to say", metrics},
	"Wildcard":             {"all clusters at once are for those whom nothing is denied", wildcard},
	"WildcardWrite":        {"nothing is written to all clusters at once", wildcardWrite},
	"WildcardDefinition":   {"definitions differ between workspaces, so only metadata is seen of their objects", wildcardDefinition},
	"ClusterAnnotation":    {"objects say which cluster they are in, whatever their authors say", clusterAnnotation},
	"SystemClusters":       {"system clusters are for those whom nothing is denied", systemClusters},
	"UnknownResource":      {"a resource that does not exist is not found", unknownResource},
	"UnprefixedIsNobodys":  {"without a cluster there are no rights", unprefixed},
	"NoCredentialsAnswers": {"without credentials there is no access", noCredentials},
}

func health(t *testing.T, s *suite) {
	for _, prefix := range []string{"", "/clusters/root"} {
		for _, path := range []string{"/healthz", "/livez", "/readyz"} {
			if a := s.as(t, "", "").get(prefix + path); a.code != http.StatusOK || a.body != "ok" {
				t.Errorf("%s%s: got %d %q", prefix, path, a.code, a.body)
			}
		}
	}
	got(t, s.as(t, "", "").get("/livez/ping"), 403)
	got(t, s.as(t, s.master, "").get("/livez/ping"), 200)
}

func version(t *testing.T, s *suite) {
	got(t, s.as(t, s.admin, "").get("/version"), 403)
	got(t, s.as(t, s.master, "").get("/version"), 200, "gitVersion")
	got(t, s.as(t, s.admin, "root").get("/version"), 200, "gitVersion")
}

func badName(t *testing.T, s *suite) {
	for _, name := range []string{"Bad_Name", "root::x", "root:Bad", "-x", "root:x-"} {
		got(t, s.as(t, s.admin, name).get("/api"), 400)
	}
}

func unknownPath(t *testing.T, s *suite) {
	for _, token := range []string{"", alice, s.admin, s.master} {
		got(t, s.as(t, token, "root:does-not-exist").get("/api"), 404, `workspaces.tenancy.kcp.io \"root:does-not-exist\" not found`)
		got(t, s.as(t, token, "root:does-not-exist:child").get("/api"), 404, `\"root:does-not-exist:child\" not found`)
	}
}

func unknownName(t *testing.T, s *suite) {
	const path = "/api/v1/namespaces"
	for _, token := range []string{"", alice, s.admin} {
		got(t, s.as(t, token, "abcdefgh1234").get(path), 403, "access denied")
	}
	list := read[corev1.NamespaceList](t, s.as(t, s.master, "abcdefgh1234").get(path))
	if len(list.Items) != 0 {
		t.Errorf("got %d namespaces", len(list.Items))
	}
}

func pathAndName(t *testing.T, s *suite) {
	parent := s.universal(t, aliceName)
	ws := s.as(t, alice, parent).workspace()
	var uids []string
	for _, place := range []string{parent + ":" + ws.Name, ws.Spec.Cluster} {
		namespace, err := s.as(t, alice, place).kube().CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		ok(t, err)
		uids = append(uids, string(namespace.UID))
	}
	if uids[0] != uids[1] {
		t.Errorf("UIDs are %v", uids)
	}
}

func relativeToName(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	child := parent.workspace()
	lc := s.as(t, alice, parent.cluster().Annotations["kcp.io/cluster"]+":"+child.Name).cluster()
	if lc.Annotations["kcp.io/cluster"] != child.Spec.Cluster {
		t.Errorf("got the logical cluster %s, want %s", lc.Annotations["kcp.io/cluster"], child.Spec.Cluster)
	}
}

func doublePrefix(t *testing.T, s *suite) {
	prefix := "/clusters/" + s.universal(t)
	for _, token := range []string{s.admin, s.master} {
		caller := s.as(t, token, "")
		got(t, caller.get(prefix+"/apis/tenancy.kcp.io/v1alpha1"), 200)
		for times := 2; times <= 3; times++ {
			got(t, caller.get(strings.Repeat(prefix, times)+"/apis/tenancy.kcp.io/v1alpha1"), 404)
		}
	}
}

func workspaceMetrics(t *testing.T, s *suite) {
	for _, place := range []string{"root", s.universal(t, aliceName)} {
		for _, token := range []string{alice, s.admin, s.master} {
			got(t, s.as(t, token, place).get("/metrics"), 501, "shard-level endpoint not available at workspace scope")
		}
	}
}

func metrics(t *testing.T, s *suite) {
	// Nobody else has to do with this user.
	reader := s.as(t, "user-5-token", "")
	got(t, reader.get("/metrics"), 403)
	s.as(t, s.admin, "root").bind("system:kcp:metrics-reader", user("user-5"))
	eventually(t, "the reader may read", func() error {
		if a := reader.get("/metrics"); a.code != http.StatusOK {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
	for _, token := range []string{s.admin, s.master} {
		got(t, s.as(t, token, "").get("/metrics"), 200, "apiserver_request_total")
	}
}

func wildcard(t *testing.T, s *suite) {
	cluster := s.as(t, s.admin, s.universal(t, aliceName)).cluster().Annotations["kcp.io/cluster"]
	for _, token := range []string{"", alice, s.admin} {
		got(t, s.as(t, token, "*").get("/api/v1/namespaces"), 403)
	}
	eventually(t, "the new workspace is in the list", func() error {
		list := read[corev1.NamespaceList](t, s.as(t, s.master, "*").get("/api/v1/namespaces"))
		for _, namespace := range list.Items {
			if namespace.Annotations["kcp.io/cluster"] == cluster {
				return nil
			}
		}
		return fmt.Errorf("not among %d namespaces", len(list.Items))
	})
}

func wildcardWrite(t *testing.T, s *suite) {
	everywhere := s.as(t, s.master, "*")
	body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"everywhere"}}`
	got(t, everywhere.do(http.MethodPost, "/api/v1/namespaces", body), 405, "in the `*` logical cluster")
	got(t, everywhere.do(http.MethodDelete, "/api/v1/namespaces/default", ""), 405, "in the `*` logical cluster")
	got(t, everywhere.get("/api/v1/namespaces/default"), 405, "in the `*` logical cluster")
}

func wildcardDefinition(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	d := definition{group: "wildcard.example.com", plural: "widgets", kind: "Widget"}
	inside.define(d)
	ok(t, inside.createObject(d, "one"))
	everywhere := s.as(t, s.master, "*")
	got(t, everywhere.get(d.url("")), 404)
	eventually(t, "metadata is there", func() error {
		list := read[metav1.PartialObjectMetadataList](t, everywhere.get(d.url(""), "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"))
		if len(list.Items) != 1 {
			return fmt.Errorf("got %d objects", len(list.Items))
		}
		if version := list.Items[0].Annotations["kcp.io/original-api-version"]; version != d.group+"/v1" {
			t.Errorf("the original version is %q", version)
		}
		return nil
	})
}

func clusterAnnotation(t *testing.T, s *suite) {
	parent := s.universal(t, aliceName)
	ws := s.as(t, alice, parent).workspace()
	client := s.as(t, alice, parent+":"+ws.Name).kube().CoreV1().ConfigMaps("default")
	created, err := client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "here", Annotations: map[string]string{"kcp.io/cluster": "elsewhere"}},
	}, metav1.CreateOptions{})
	ok(t, err)
	stored, err := client.Get(t.Context(), "here", metav1.GetOptions{})
	ok(t, err)
	stored.Annotations["kcp.io/cluster"] = "elsewhere"
	updated, err := client.Update(t.Context(), stored, metav1.UpdateOptions{})
	ok(t, err)
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=here"})
	ok(t, err)
	for _, cm := range append(list.Items, *created, *updated) {
		if got := cm.Annotations["kcp.io/cluster"]; got != ws.Spec.Cluster {
			t.Errorf("the cluster is %q, want %q", got, ws.Spec.Cluster)
		}
	}
}

func systemClusters(t *testing.T, s *suite) {
	const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kcp:workspace:access"
	for _, token := range []string{"", alice, s.admin} {
		got(t, s.as(t, token, "system:admin").get(path), 403)
	}
	got(t, s.as(t, s.master, "system:admin").get(path), 200)
}

func unknownResource(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for _, path := range []string{"/api/v1/gadgets", "/apis/nowhere.example.com/v1/gadgets", "/apis/tenancy.kcp.io/v1alpha1/gadgets"} {
		got(t, inside.get(path), 404)
	}
}

func unprefixed(t *testing.T, s *suite) {
	for _, token := range []string{"", alice, s.admin} {
		for _, path := range []string{"/api", "/apis", "/api/v1/namespaces", "/openapi/v2", "/openapi/v3", "/"} {
			got(t, s.as(t, token, "").get(path), 403)
		}
	}
}

func noCredentials(t *testing.T, s *suite) {
	for _, path := range []string{"/api", "/version", "/api/v1/namespaces", "/openapi/v3"} {
		got(t, s.as(t, "", "root").get(path), 403, "system:anonymous")
	}
}
