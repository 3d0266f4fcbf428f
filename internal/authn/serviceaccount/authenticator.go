package serviceaccount

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Accounts reads what tokens refer to, in the cluster of the context. What is not there
// is a NotFound Status error.
type Accounts interface {
	GetServiceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error)
	GetSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
}

// NewAuthenticator returns what checks tokens of issuer that were signed with one of keys,
// public or private ones. audiences are those that a token must be for one of.
func NewAuthenticator(issuer string, keys []any, audiences authenticator.Audiences, accounts Accounts) (authenticator.Token, error) {
	public, err := serviceaccount.StaticPublicKeysGetter(keys)
	if err != nil {
		return nil, err
	}
	validator := serviceaccount.NewValidator(getter{accounts})
	return located{serviceaccount.JWTTokenAuthenticator([]string{issuer}, public, audiences, validator)}, nil
}

// located checks a token in the cluster that it names.
type located struct{ inner authenticator.Token }

// AuthenticateToken implements authenticator.Token.
func (l located) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	// The claim is believed only to know where to look: that it is signed, and that the
	// account exists there with the UID it says, is checked then.
	cluster, ok := claimedCluster(token)
	if !ok {
		return nil, false, nil
	}
	response, ok, err := l.inner.AuthenticateToken(logicalcluster.NewContext(ctx, cluster), token)
	if err != nil || !ok {
		return nil, false, err
	}
	return &authenticator.Response{Audiences: response.Audiences, User: from(response.User, cluster)}, true, nil
}

// from returns u as a user who comes from cluster and is himself there only.
func from(u user.Info, cluster logicalcluster.Name) user.Info {
	extra := maps.Clone(u.GetExtra())
	if extra == nil {
		extra = map[string][]string{}
	}
	extra[identity.ClusterNameKey] = []string{cluster.String()}
	extra[identity.ScopesKey] = []string{identity.Scope(cluster)}
	return &user.DefaultInfo{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: extra}
}

// claimedCluster returns the cluster that a token names. ok is false for what is no
// token of a service account of ours.
func claimedCluster(token string) (cluster logicalcluster.Name, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return logicalcluster.Name{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return logicalcluster.Name{}, false
	}
	var claims struct {
		Kubernetes struct {
			Cluster string `json:"clusterName"`
		} `json:"kubernetes.io"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return logicalcluster.Name{}, false
	}
	cluster, err = logicalcluster.ParseName(claims.Kubernetes.Cluster)
	return cluster, err == nil
}

// getter is Accounts as upstream's validator wants it. There are no pods and nodes.
type getter struct{ Accounts }

// GetPod says that there is no such pod.
func (getter) GetPod(_ context.Context, _, name string) (*corev1.Pod, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

// GetNode says that there is no such node.
func (getter) GetNode(_ context.Context, name string) (*corev1.Node, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
}
