package exports

import (
	"crypto/rand"
	"encoding/base64"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// keyLength is the length of a new identity in bytes, before it is made a text.
const keyLength = 32

// NewKey returns an identity that nobody else has.
func NewKey() []byte {
	key := make([]byte, keyLength)
	// It never returns an error, and never too little.
	_, _ = rand.Read(key)
	return []byte(base64.RawURLEncoding.EncodeToString(key))
}

// Secret returns the secret with the identity of an export. It is left alone once it
// exists: another identity would make all objects disappear.
func Secret(export string, key []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   IdentityNamespace,
			Name:        export,
			Annotations: map[string]string{corev1alpha1.CreateOnlyAnnotationKey: "true"},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{apisv1alpha1.SecretKeyAPIExportIdentity: key},
	}
}

// Key returns the identity in the data of such a secret; nil if there is none.
func Key(data map[string][]byte) []byte { return data[apisv1alpha1.SecretKeyAPIExportIdentity] }
