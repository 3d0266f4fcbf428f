package apiexport

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

const (
	abcd1234 = "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae"
	xxx      = "cd2eb0837c9b4c962c22d2ff8b5441b7b45805887f051d39bf133b583baf6860"
)

func export(hash string, named *corev1.SecretReference) *apisv1alpha2.APIExport {
	e := &apisv1alpha2.APIExport{ObjectMeta: in(home, "", "widgets")}
	e.Status.IdentityHash = hash
	if named != nil {
		e.Spec.Identity = &apisv1alpha2.Identity{SecretRef: named}
	}
	return e
}

func TestVerify(t *testing.T) {
	with := func(data map[string][]byte) *core.Secret { return &core.Secret{Data: data} }
	for name, tc := range map[string]struct {
		reason string
		export *apisv1alpha2.APIExport
		secret *core.Secret
		hash   string
		fails  string
	}{
		"First":    {"the first key makes the identity", export("", nil), with(map[string][]byte{"key": []byte("abcd1234")}), abcd1234, ""},
		"Same":     {"the same key confirms it", export(xxx, nil), with(map[string][]byte{"key": []byte("xxx")}), xxx, ""},
		"Another":  {"another one does not replace it", export(xxx, nil), with(map[string][]byte{"key": []byte("abcd1234")}), xxx, apisv1alpha1.ReasonIdentityVerificationFailed},
		"Missing":  {"without a secret there is no new identity", export("", nil), nil, "", apisv1alpha1.ReasonIdentityVerificationFailed},
		"Lost":     {"nor does the old one go", export(xxx, nil), nil, xxx, apisv1alpha1.ReasonIdentityVerificationFailed},
		"NoKey":    {"a secret has to have the key", export("", nil), with(map[string][]byte{"token": []byte("xxx")}), "", apisv1alpha1.ReasonIdentityVerificationFailed},
		"EmptyKey": {"an empty key is none: everybody could guess it", export("", nil), with(map[string][]byte{"key": {}}), "", apisv1alpha1.ReasonIdentityVerificationFailed},
		"Nameless": {"half a reference leads nowhere", export("", &corev1.SecretReference{Name: "mine"}), nil, "", apisv1alpha1.ReasonIdentityVerificationFailed},
	} {
		verify(tc.export, tc.secret)
		if tc.export.Status.IdentityHash != tc.hash || conditions.Reason(tc.export, apisv1alpha1.APIExportIdentityValid) != tc.fails {
			t.Errorf("%s: %s: got %+v", name, tc.reason, tc.export.Status)
		}
	}
}
