package options

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/authz"
)

// AuthorizationOptions say who decides what callers may do.
type AuthorizationOptions struct {
	// Order names the authorizers to ask, in order; one that is left out is off.
	Order []string
	// AlwaysAllowPaths are paths that everybody may get; a "*" at the end makes one a
	// prefix.
	AlwaysAllowPaths []string
	// Webhook asks somebody else.
	Webhook AuthorizationWebhookOptions
	// open lets Order name the authorizer that allows everything.
	open bool
}

// AllowEverybody lets Order name the authorizer that allows everything, which no flag does.
func (o *AuthorizationOptions) AllowEverybody() { o.open = true }

// AuthorizationWebhookOptions ask somebody else what callers may do.
type AuthorizationWebhookOptions struct {
	ConfigFile, Version            string
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

func newAuthorizationOptions() AuthorizationOptions {
	return AuthorizationOptions{
		Order:            authz.DefaultOrder(),
		AlwaysAllowPaths: authz.DefaultAlwaysAllowPaths(),
		Webhook: AuthorizationWebhookOptions{
			Version:         "v1beta1",
			AuthorizedTTL:   5 * time.Minute,
			UnauthorizedTTL: 30 * time.Second,
		},
	}
}

// AddFlags adds the flags of the group to fs.
func (o *AuthorizationOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Order, "authorization-order", o.Order,
		"Authorizers to ask, in order. The first that allows or denies decides; one that is left out is off.")
	fs.StringSliceVar(&o.AlwaysAllowPaths, "authorization-always-allow-paths", o.AlwaysAllowPaths,
		"Paths that everybody may get, without the prefix of a workspace. A * at the end makes one a prefix.")
	w := &o.Webhook
	fs.StringVar(&w.ConfigFile, "authorization-webhook-config-file", w.ConfigFile,
		"Kubeconfig of a service that reviews access.")
	fs.StringVar(&w.Version, "authorization-webhook-version", w.Version,
		"Version of authorization.k8s.io to speak with it.")
	fs.DurationVar(&w.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", w.AuthorizedTTL,
		"How long its consent is remembered.")
	fs.DurationVar(&w.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", w.UnauthorizedTTL,
		"How long its refusal is remembered.")
}

// Validate says what is wrong with the options.
func (o *AuthorizationOptions) Validate() []error {
	var all []error
	seen := map[string]bool{}
	for _, name := range o.Order {
		switch {
		case !slices.Contains(authz.DefaultOrder(), name) && (name != authz.AlwaysAllow || !o.open):
			all = append(all, fmt.Errorf("--authorization-order: unknown authorizer %q, known are %s",
				name, strings.Join(authz.DefaultOrder(), ", ")))
		case seen[name]:
			all = append(all, fmt.Errorf("--authorization-order: %s is named twice", name))
		}
		seen[name] = true
	}
	if len(o.Order) == 0 {
		all = append(all, fmt.Errorf("--authorization-order is empty, so nobody could do anything; known are %s",
			strings.Join(authz.DefaultOrder(), ", ")))
	}
	return all
}

// Authorization is who decides what callers may do.
type Authorization struct {
	// Order names the authorizers to ask, in order.
	Order []string
	// AlwaysAllowPaths are paths that everybody may get.
	AlwaysAllowPaths []string
}
