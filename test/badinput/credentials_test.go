package badinput

import (
	"encoding/base64"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// credentials are tokens that are none, and identities that are claimed and not proven.
func (s *suite) credentials(t *testing.T) {
	unauthorized := func(reason, token string) request {
		return request{
			reason: reason, token: token, path: configMaps,
			code: http.StatusUnauthorized, status: metav1.StatusReasonUnauthorized, message: "Unauthorized",
		}
	}
	header := func(reason, path string, code int, status metav1.StatusReason, header map[string]string) request {
		return request{reason: reason, path: path, header: header, code: code, status: status}
	}
	const forbidden = http.StatusForbidden
	s.table(t, map[string]request{
		"Garbage":        unauthorized("a token nobody knows", "garbage"),
		"AlmostAToken":   unauthorized("a token with something behind it", user+"x"),
		"OtherServer":    unauthorized("the form of a token of the administrator, of another server", "11111111-2222-3333-4444-555555555555"),
		"JWT":            unauthorized("a signed token of nobody we know", foreignJWT()),
		"UnsignedJWT":    unauthorized("a token that says it needs no signature", unsignedJWT()),
		"GarbageInRoot":  {reason: "never anonymous instead", token: "garbage", path: "/clusters/root/version", code: http.StatusUnauthorized, status: metav1.StatusReasonUnauthorized},
		"GarbageNowhere": {reason: "also where there is no workspace", token: "garbage", path: "/version", code: http.StatusUnauthorized, status: metav1.StatusReasonUnauthorized},
		"Anonymous":      {reason: "nobody is anonymous and may nothing", token: nobody, path: configMaps, code: forbidden, status: metav1.StatusReasonForbidden, message: "system:anonymous"},
		"AnonymousWildcard": {
			reason: "least of all with the wildcard", token: nobody, path: "/clusters/*/api/v1/configmaps", code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"Basic": {
			reason: "there are no passwords", token: nobody, path: configMaps, header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:admin-token"))},
			code: forbidden, status: metav1.StatusReasonForbidden,
		},

		"RemoteUser": header("what a proxy would say counts only from a proxy", other+"/api/v1/configmaps", forbidden, metav1.StatusReasonForbidden,
			map[string]string{"X-Remote-User": "user-2", "X-Remote-Group": "system:masters"}),
		"ImpersonateMasters": header("an administrator of a workspace does not become privileged", configMaps, forbidden, metav1.StatusReasonForbidden,
			map[string]string{"Impersonate-User": "x", "Impersonate-Group": "system:masters"}),
		"ImpersonateAdmin": header("or administrator of all workspaces", configMaps, forbidden, metav1.StatusReasonForbidden,
			map[string]string{"Impersonate-User": "x", "Impersonate-Group": "system:kcp:admin"}),
		"ImpersonateInitializer": header("or one who may enter workspaces that begin", configMaps, forbidden, metav1.StatusReasonForbidden,
			map[string]string{"Impersonate-User": "x", "Impersonate-Group": "system:kcp:initializer:root:universal"}),
		"ImpersonateElsewhere": header("or somebody else in another workspace", other+"/api/v1/configmaps", forbidden, metav1.StatusReasonForbidden,
			map[string]string{"Impersonate-User": "user-2"}),
		"ImpersonateByWildcard": header("or somebody beyond workspaces", "/clusters/*/api/v1/configmaps", forbidden, metav1.StatusReasonForbidden,
			map[string]string{"Impersonate-User": "user-2"}),
		"GroupWithoutUser": header("a group alone is nobody", configMaps, http.StatusBadRequest, metav1.StatusReasonBadRequest,
			map[string]string{"Impersonate-Group": "elephant"}),
		"DeepReview": {
			reason: "looking behind the access check is for privileged callers",
			method: http.MethodPost, path: mine + "/apis/authorization.k8s.io/v1/subjectaccessreviews", contentType: asJSON,
			header: map[string]string{"X-Kcp-Internal-Deep-SubjectAccessReview": "true"},
			body:   `{"spec":{"user":"nobody","groups":["system:authenticated"],"resourceAttributes":{"verb":"get","resource":"configmaps","namespace":"default"}}}`,
			code:   http.StatusCreated, message: `"allowed":false`,
		},
	})
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

const claims = `{"iss":"https://kcp.default.svc","aud":["https://kcp.default.svc"],"sub":"system:serviceaccount:default:default","exp":9999999999,` +
	`"kubernetes.io":{"clusterName":"root","namespace":"default","serviceaccount":{"name":"default","uid":"x"}}}`

func foreignJWT() string {
	return encode([]byte(`{"alg":"RS256","kid":"x"}`)) + "." + encode([]byte(claims)) + "." + encode([]byte("signature"))
}

func unsignedJWT() string {
	return encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "."
}
