package virtual

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// schemaBehavior is what a workspace finds out about the schemas that it has bound.
var schemaBehavior = map[string]behavior{
	"Bound": {
		reason: "who may get bindings sees the schemas behind them, without access to the provider",
		test: func(t *testing.T, s *suite) {
			mustCreate(t, s.admin(t, s.first).Resource(clusterrole), parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: bindings-only}
rules:
- {apiGroups: [apis.kcp.io], resources: [apibindings], verbs: [get]}
- {nonResourceURLs: ["/"], verbs: [access]}
`))
			s.grant(t, s.first, "bindings-only", visitingName)
			client := func(token string, cluster, target place) dynamic.ResourceInterface {
				config := s.server.As(t, token, "root")
				config.Host = s.server.URL() + "/services/apiresourceschema/" + cluster.name + "/clusters/" + target.name
				return newClient(t, config).Resource(schemas)
			}
			eventuallyAllowed(t, func() error {
				_, err := client(visiting, s.first, everywhere).List(t.Context(), metav1.ListOptions{})
				return err
			})
			for _, target := range []place{everywhere, s.first} {
				found, err := client(visiting, s.first, target).List(t.Context(), metav1.ListOptions{})
				must(t, err)
				if in := clusters(found, "today.cowboys.wildwest.dev"); !in[s.provider.name] {
					t.Errorf("through %s: in %v", target.name, in)
				}
				_, err = client(visiting, s.first, target).Get(t.Context(), "today.cowboys.wildwest.dev", metav1.GetOptions{})
				must(t, err)
				_, err = client(visiting, s.first, target).Get(t.Context(), "tomorrow.cowboys.wildwest.dev", metav1.GetOptions{})
				wantCode(t, err, http.StatusNotFound)
				w, err := client(visiting, s.first, target).Watch(t.Context(), metav1.ListOptions{})
				must(t, err)
				w.Stop()
				wantCode(t, client(visiting, s.first, target).Delete(t.Context(), "today.cowboys.wildwest.dev", metav1.DeleteOptions{}), http.StatusForbidden)
			}
			_, err := client(visiting, s.first, s.second).List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden, "access denied")
			_, err = client(stranger, s.first, everywhere).List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden, "access denied")
			if code, body := s.get(t, visiting, "/services/apiresourceschema/"+s.first.name+"/clusters/*/apis/apis.kcp.io/v1alpha1/apiexports"); code != http.StatusNotFound {
				t.Errorf("exports: %d %s", code, body)
			}
		},
	},
}
