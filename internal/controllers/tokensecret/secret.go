package tokensecret

import (
	"bytes"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	coreconversion "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// holdsToken says whether a secret is one that is to hold a token.
func holdsToken(secret *core.Secret) bool {
	return secret.Type == core.SecretTypeServiceAccountToken && secret.Annotations[core.ServiceAccountNameKey] != ""
}

// isOf says whether a secret is one of account: of that name and, once it has been filled,
// that UID.
func isOf(secret *core.Secret, account *core.ServiceAccount) bool {
	uid := secret.Annotations[core.ServiceAccountUIDKey]
	return secret.Annotations[core.ServiceAccountNameKey] == account.Name && (uid == "" || uid == string(account.UID))
}

// lacking is what a secret does not have as it should.
type lacking struct{ token, namespace, rootCA bool }

func (l lacking) nothing() bool { return l == lacking{} }

func whatIsLacking(secret *core.Secret, rootCA []byte) lacking {
	if secret.Immutable != nil && *secret.Immutable {
		// Whoever made it so is in charge of it.
		return lacking{}
	}
	return lacking{
		token:     len(secret.Data[core.ServiceAccountTokenKey]) == 0,
		namespace: len(secret.Data[core.ServiceAccountNamespaceKey]) == 0,
		rootCA:    len(rootCA) > 0 && !bytes.Equal(secret.Data[core.ServiceAccountRootCAKey], rootCA),
	}
}

// filled returns secret with all it lacks.
func filled(secret *core.Secret, account *core.ServiceAccount, lacks lacking, token string, rootCA []byte) *core.Secret {
	secret = secret.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if lacks.token {
		secret.Data[core.ServiceAccountTokenKey] = []byte(token)
	}
	if lacks.namespace {
		secret.Data[core.ServiceAccountNamespaceKey] = []byte(secret.Namespace)
	}
	if lacks.rootCA {
		secret.Data[core.ServiceAccountRootCAKey] = rootCA
	}
	secret.Annotations[core.ServiceAccountUIDKey] = string(account.UID)
	return secret
}

// newToken makes the token of an account that is to be kept in secret.
func (r *reconciler) newToken(ctx context.Context, cluster logicalcluster.Name, account *core.ServiceAccount, secret *core.Secret) (string, error) {
	var of corev1.ServiceAccount
	if err := coreconversion.Convert_core_ServiceAccount_To_v1_ServiceAccount(account, &of, nil); err != nil {
		return "", err
	}
	claims, private := serviceaccount.LegacyClaims(of, corev1.Secret{ObjectMeta: secret.ObjectMeta})
	return r.Tokens.GenerateToken(logicalcluster.NewContext(ctx, cluster), claims, private)
}
