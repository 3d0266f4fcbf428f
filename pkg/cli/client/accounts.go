package client

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func serviceAccounts(p logicalcluster.Path, namespace string, name ...string) []string {
	return append(at(p, "api", "v1", "namespaces", namespace, "serviceaccounts"), name...)
}

// EnsureServiceAccount creates a ServiceAccount in the workspace p unless it is there.
func (c *Client) EnsureServiceAccount(ctx context.Context, p logicalcluster.Path, namespace, name string) error {
	account := &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
	err := c.create(ctx, serviceAccounts(p, namespace), nil, account, &corev1.ServiceAccount{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Token returns a token of a ServiceAccount in the workspace p that is good for a while.
func (c *Client) Token(ctx context.Context, p logicalcluster.Path, namespace, name string, validity time.Duration) (string, error) {
	seconds := int64(validity / time.Second)
	request := &authenticationv1.TokenRequest{
		TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"},
		Spec:     authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}
	answer := &authenticationv1.TokenRequest{}
	if err := c.create(ctx, serviceAccounts(p, namespace, name, "token"), nil, request, answer); err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}
