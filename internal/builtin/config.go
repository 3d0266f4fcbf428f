package builtin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	rbacvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/internal/builtin/workload"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Config is what the registries need from the rest of the server. All functions and
// interfaces in it are called with the context of the request, which carries the
// logical cluster they must answer for.
type Config struct {
	// RESTOptions gives each registry its storage. Required.
	RESTOptions generic.RESTOptionsGetter

	// Authorizer answers access reviews and the escalation checks of roles,
	// bindings and admission policies. Required: without it a registry would let
	// everybody grant everything.
	Authorizer authorizer.Authorizer

	// RoleRules lists the rules somebody has, for the check that nobody grants
	// through a role or binding what he does not have himself. Required.
	RoleRules rbacvalidation.AuthorizationRuleResolver

	// UserRules answers SelfSubjectRulesReviews. Required.
	UserRules authorizer.RuleResolver

	// Authenticator answers TokenReviews. Required.
	Authenticator authenticator.Request

	// Audiences are those a TokenReview assumes if it names none.
	Audiences authenticator.Audiences

	// Kinds resolves the parameter kind of an admission policy to a resource. If it
	// is nil, or does not know the kind, somebody who writes such a policy needs
	// access to all resources of the kind's group.
	Kinds KindResolver

	// Tokens makes serviceaccounts/token served. If it is nil, that subresource
	// does not exist.
	Tokens *Tokens

	// Workloads makes workload types served. If it is nil, there are none.
	Workloads *workload.Services

	// Single is the cluster that objects are in which do not say theirs. Zero means that
	// all say it.
	Single logicalcluster.Name

	// EventTTL is how long events are kept. Zero means one hour.
	EventTTL time.Duration
}

// KindResolver returns the resource that serves kind in the logical cluster that ctx
// carries, or an error if there is none.
type KindResolver func(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionResource, error)

// Tokens says how tokens for service accounts are made.
type Tokens struct {
	// Issuer signs the tokens.
	Issuer serviceaccount.TokenGenerator
	// Audiences are those of a token whose request names none.
	Audiences authenticator.Audiences
	// MaxExpiration bounds the lifetime of a token; longer ones are cut, with a
	// warning. Zero means no bound.
	MaxExpiration time.Duration
	// ExtendExpiration lets tokens that are bound to a pod live for a year if a client
	// asks for the usual hour. Without pods there are none; it is here because upstream
	// has it.
	ExtendExpiration bool
}

const defaultEventTTL = time.Hour

// errMissing says which required field of a Config is not set.
var errMissing = errors.New("required")

func (c *Config) validate() error {
	var missing []error
	for _, field := range []struct {
		name  string
		isSet bool
	}{
		{"RESTOptions", c.RESTOptions != nil},
		{"Authorizer", c.Authorizer != nil},
		{"RoleRules", c.RoleRules != nil},
		{"UserRules", c.UserRules != nil},
		{"Authenticator", c.Authenticator != nil},
	} {
		if !field.isSet {
			missing = append(missing, fmt.Errorf("%s: %w", field.name, errMissing))
		}
	}
	return errors.Join(missing...)
}

func (c *Config) eventTTL() time.Duration {
	if c.EventTTL == 0 {
		return defaultEventTTL
	}
	return c.EventTTL
}
