package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The links of an Authorizer, by the names that --authorization-order takes.
const (
	AlwaysAllowGroups = "AlwaysAllowGroups"
	AlwaysAllowPaths  = "AlwaysAllowPaths"
	RBAC              = "RBAC"
	Webhook           = "Webhook"

	// AlwaysAllow allows everything. It is none of the default order, and no value of the
	// flag: only tests have a server without permissions.
	AlwaysAllow = "AlwaysAllow"
)

// DefaultOrder returns the order of links unless asked for otherwise.
func DefaultOrder() []string {
	return []string{AlwaysAllowGroups, AlwaysAllowPaths, RBAC, Webhook}
}

// DefaultAlwaysAllowPaths returns the paths that everybody may get unless asked for
// otherwise.
func DefaultAlwaysAllowPaths() []string { return []string{"/healthz", "/readyz", "/livez"} }

// What clients read, whichever link or step decided.
const (
	reasonGranted = "access granted"
	reasonDenied  = "access denied"
)

// Config is what an Authorizer is made of.
type Config struct {
	// Order names the links and puts them in order; a link that is left out is off.
	// Empty means DefaultOrder.
	Order []string
	// AlwaysAllowPaths are paths, without the prefix of a cluster, that everybody may
	// use. A "*" at the end makes one a prefix.
	AlwaysAllowPaths []string
	// Bootstrap is the policy of system:admin.
	Bootstrap *Bootstrap
	// Local reads the policies of workspaces.
	Local Policy
	// LogicalClusters reads the logical clusters that requests are to.
	LogicalClusters LogicalClusters
	// Exports knows where bound resources come from. Without it none are bound.
	Exports Exports
	// Single is a cluster of which access is not a matter: whatever policies grant in it is
	// granted. Zero means none.
	Single logicalcluster.Name
	// Webhook is the link of that name. Without one it has no opinion.
	Webhook authorizer.Authorizer
	// Audited makes RBAC annotate audit events with what each step said. It costs
	// about as much as deciding, so leave it off where there is no audit log.
	Audited bool
}

// Authorizer decides about requests to any logical cluster, the one in the context. It
// is safe for concurrent use.
type Authorizer struct {
	links []link
	in    domain
	// bootstrap and local are the policies of the link RBAC.
	bootstrap *Bootstrap
	local     Policy
}

// link is one authorizer in the union.
type link func(ctx context.Context, attributes authorizer.Attributes, in domain) outcome

// New returns the Authorizer that config describes. It answers requests of clients;
// see Reviews and Silent for its other uses.
func New(config Config) (*Authorizer, error) {
	order := config.Order
	if len(order) == 0 {
		order = DefaultOrder()
	}
	a := &Authorizer{in: requestDomain, bootstrap: config.Bootstrap, local: config.Local}
	for i, name := range order {
		if slices.Contains(order[:i], name) {
			return nil, fmt.Errorf("authorization order: %q is named twice", name)
		}
		l, err := config.link(name)
		if err != nil {
			return nil, fmt.Errorf("authorization order: %w", err)
		}
		if l != nil {
			a.links = append(a.links, l)
		}
	}
	return a, nil
}

// link returns the link of that name, nil if it would never have an opinion.
func (c *Config) link(name string) (link, error) {
	switch name {
	case AlwaysAllowGroups:
		return plain(authorizerfactory.NewPrivilegedGroups(identity.Masters)), nil
	case AlwaysAllowPaths:
		paths, err := path.NewAuthorizer(c.AlwaysAllowPaths)
		if err != nil {
			return nil, fmt.Errorf("always allowed paths: %w", err)
		}
		return plain(paths), nil
	case RBAC:
		if c.Bootstrap == nil || c.Local == nil || c.LogicalClusters == nil {
			return nil, errors.New("RBAC needs a bootstrap policy, workspace policies and logical clusters")
		}
		chain := &rbacChain{
			bootstrap: c.Bootstrap, local: c.Local, logicalClusters: c.LogicalClusters, exports: c.Exports,
			single: c.Single, audited: c.Audited, oneByOne: c.Webhook != nil && asksBefore(c.Order, Webhook, RBAC),
		}
		return chain.authorize, nil
	case AlwaysAllow:
		return plain(authorizerfactory.NewAlwaysAllowAuthorizer()), nil
	case Webhook:
		if c.Webhook == nil {
			return nil, nil
		}
		return plain(c.Webhook), nil
	default:
		return nil, fmt.Errorf("%q is not one of %s", name, strings.Join(DefaultOrder(), ", "))
	}
}

// plain makes a link of an authorizer that has no steps.
func plain(a authorizer.Authorizer) link {
	return func(ctx context.Context, attributes authorizer.Attributes, _ domain) outcome {
		decision, reason, err := a.Authorize(ctx, attributes)
		return outcome{decision: decision, reason: reason, err: err}
	}
}

// Authorize implements authorizer.Authorizer. An error comes with no opinion only: it
// says that a link could not find out, and no other one decided.
func (a *Authorizer) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	if attributes.GetUser() == nil {
		return authorizer.DecisionNoOpinion, reasonDenied, errors.New("authorizing a request without a user")
	}
	var problems []error
	for _, decide := range a.links {
		result := decide(ctx, attributes, a.in)
		switch result.decision {
		case authorizer.DecisionAllow:
			return result.decision, reasonGranted, nil
		case authorizer.DecisionDeny:
			return result.decision, reasonDenied, nil
		}
		if result.err != nil {
			problems = append(problems, result.err)
		}
	}
	return authorizer.DecisionNoOpinion, reasonDenied, errors.Join(problems...)
}

// Reviews returns a for the use of access reviews, whose steps show in audit events
// under a name of their own, beside those of the request that brought the review.
func (a *Authorizer) Reviews() *Authorizer { return a.with(reviewedDomain) }

// Silent returns a for questions that the server asks itself while serving a request.
// They leave no trace in audit events.
func (a *Authorizer) Silent() *Authorizer { return a.with(silent) }

func (a *Authorizer) with(in domain) *Authorizer {
	other := *a
	other.in = in
	return &other
}

// AllowedIn says whether the policy of cluster allows what attributes ask for, for
// users who need not have access to cluster: neither access to the workspace nor its
// required groups are looked at. With it admission checks that the author of an object
// may use what the object refers to in another workspace. The user counts there as
// the one he is there: out of scope he has only what everybody has.
func (a *Authorizer) AllowedIn(ctx context.Context, cluster logicalcluster.Name, attributes authorizer.Attributes) (bool, error) {
	ctx = withDeep(logicalcluster.NewContext(ctx, cluster))
	decision, _, err := a.Silent().Authorize(ctx, attributes)
	return decision == authorizer.DecisionAllow, err
}
