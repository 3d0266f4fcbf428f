package apiexport

import (
	"crypto/rand"
	"encoding/base64"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

const (
	// identityNamespace is where secrets are that nobody said another place for.
	identityNamespace = "kcp-system"
	// keySize is how many random bytes a key is made of.
	keySize = 32
)

// secretOf returns the secret that an export goes by: the one it names, or else the one
// that is called like it.
func secretOf(export *apisv1alpha2.APIExport) corev1.SecretReference {
	if export.Spec.Identity != nil && export.Spec.Identity.SecretRef != nil {
		return *export.Spec.Identity.SecretRef
	}
	return corev1.SecretReference{Namespace: identityNamespace, Name: export.Name}
}

// namesSecret says whether an export says which secret it goes by.
func namesSecret(export *apisv1alpha2.APIExport) bool {
	return export.Spec.Identity != nil && export.Spec.Identity.SecretRef != nil
}

// isNew says whether an export has no identity, and nobody said where to take it from.
func isNew(export *apisv1alpha2.APIExport) bool {
	return !namesSecret(export) && export.Status.IdentityHash == ""
}

// name makes an export name the secret it goes by.
func name(export *apisv1alpha2.APIExport) {
	if namesSecret(export) {
		return
	}
	secret := secretOf(export)
	export.Spec.Identity = &apisv1alpha2.Identity{SecretRef: &secret}
	export.Generation++
}

// verify sets the identity of an export from its secret, which is nil if there is none,
// or says what is wrong with it.
func verify(export *apisv1alpha2.APIExport, secret *core.Secret) {
	invalid := func(format string, args ...any) {
		conditions.MarkFalse(export, apisv1alpha1.APIExportIdentityValid, apisv1alpha1.ReasonIdentityVerificationFailed,
			conditions.SeverityError, format, args...)
	}
	named := secretOf(export)
	if named.Name == "" || named.Namespace == "" {
		invalid("spec.identity.secretRef needs both a namespace and a name")
		return
	}
	if secret == nil {
		invalid("secret %s/%s not found", named.Namespace, named.Name)
		return
	}
	key := secret.Data[apisv1alpha1.SecretKeyAPIExportIdentity]
	if len(key) == 0 {
		invalid("secret is missing data.%s", apisv1alpha1.SecretKeyAPIExportIdentity)
		return
	}
	hash := apihash.Identity(key)
	if export.Status.IdentityHash == "" {
		export.Status.IdentityHash = hash
	}
	if export.Status.IdentityHash != hash {
		invalid("hash mismatch: the key in secret %s/%s is not the one of status.identityHash %s",
			named.Namespace, named.Name, export.Status.IdentityHash)
		return
	}
	conditions.MarkTrue(export, apisv1alpha1.APIExportIdentityValid)
}

// newSecret returns a secret with a new key.
func newSecret(named corev1.SecretReference) *core.Secret {
	key := make([]byte, keySize)
	// It never fails: crypto/rand ends the program first.
	_, _ = rand.Read(key)
	return &core.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: named.Namespace, Name: named.Name},
		Type:       core.SecretTypeOpaque,
		Data: map[string][]byte{
			apisv1alpha1.SecretKeyAPIExportIdentity: []byte(base64.RawURLEncoding.EncodeToString(key)),
		},
	}
}
