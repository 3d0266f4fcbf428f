package serviceaccount

import (
	"context"
	"errors"
	"maps"

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
	// LabelSecret sets labels of a secret, which must still be the one with that UID.
	LabelSecret(ctx context.Context, secret *corev1.Secret, labels map[string]string) error
}

// Bound reads what tokens may be bound to besides, in the cluster of the context. What is
// not there is a NotFound Status error.
type Bound interface {
	GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	GetNode(ctx context.Context, name string) (*corev1.Node, error)
}

// Config is what tokens are checked by. All but Bound and Lookup is required.
type Config struct {
	// Issuers are those whose tokens are good.
	Issuers []string
	// Keys are those that tokens may be signed with.
	Keys serviceaccount.PublicKeysGetter
	// Audiences are those that a token must be for one of.
	Audiences authenticator.Audiences
	// Accounts reads what tokens refer to.
	Accounts Accounts
	// Bound reads pods and nodes; nil where there are none.
	Bound Bound
	// Lookup makes legacy tokens depend on their account and secret. Others always do.
	Lookup bool
}

// NewAuthenticators returns what checks tokens: those in secrets, and those that were
// requested. Each leaves the tokens of the other alone.
func NewAuthenticators(config Config) ([]authenticator.Token, error) {
	if len(config.Issuers) == 0 || config.Keys == nil || config.Accounts == nil {
		return nil, errors.New("checking tokens takes issuers, keys and accounts")
	}
	accounts := getter{config.Accounts, config.Bound}
	if config.Bound == nil {
		accounts.Bound = nothing{}
	}
	legacy, err := serviceaccount.NewLegacyValidator(config.Lookup, accounts, usage{config.Accounts})
	if err != nil {
		return nil, err
	}
	return []authenticator.Token{
		located{serviceaccount.JWTTokenAuthenticator([]string{serviceaccount.LegacyIssuer}, config.Keys, config.Audiences, legacy)},
		located{serviceaccount.JWTTokenAuthenticator(config.Issuers, config.Keys, config.Audiences, serviceaccount.NewValidator(accounts))},
	}, nil
}

// located checks a token in the cluster that it names.
type located struct{ inner authenticator.Token }

// AuthenticateToken implements authenticator.Token.
func (l located) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	// The claim is believed only to know where to look: that it is signed, and that the
	// account exists there with the UID it says, is checked then.
	cluster, ok := ClaimedCluster(token)
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

// getter is what upstream's validators want.
type getter struct {
	Accounts
	Bound
}

// nothing is Bound where there are no pods and nodes.
type nothing struct{}

// GetPod says that there is no such pod.
func (nothing) GetPod(_ context.Context, _, name string) (*corev1.Pod, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

// GetNode says that there is no such node.
func (nothing) GetNode(_ context.Context, name string) (*corev1.Node, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
}
