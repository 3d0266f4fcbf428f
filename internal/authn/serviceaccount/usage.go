package serviceaccount

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// usage writes down when a legacy token was last used. Upstream's validator does that
// with a client, of which it calls Patch with labels and nothing else.
type usage struct{ accounts Accounts }

// Secrets implements typedcorev1.SecretsGetter.
func (u usage) Secrets(namespace string) typedcorev1.SecretInterface {
	return labeled{accounts: u.accounts, namespace: namespace}
}

type labeled struct {
	// Not set: a call of another method would be a mistake that the first test finds.
	typedcorev1.SecretInterface

	accounts  Accounts
	namespace string
}

// Patch implements the one method that is called.
func (l labeled) Patch(ctx context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Secret, error) {
	patch := &corev1.Secret{}
	if err := json.Unmarshal(data, patch); err != nil {
		return nil, fmt.Errorf("reading the patch of secret %s: %w", name, err)
	}
	patch.Namespace, patch.Name = l.namespace, name
	return patch, l.accounts.LabelSecret(ctx, patch, patch.Labels)
}
