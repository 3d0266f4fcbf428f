package authn

import (
	"fmt"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Config is what callers may authenticate with. The zero value lets nobody in.
type Config struct {
	// Admin knows the tokens that the server made for itself (package admin). They go
	// before everything else, so that no other authenticator can shadow them. Nil
	// without the admin battery.
	Admin authenticator.Token
	// RequestHeader trusts the user that a front proxy names in headers. Nil means no
	// proxy is trusted.
	RequestHeader *authenticatorfactory.RequestHeaderConfig
	// ClientCA signs client certificates: the common name is the user, organizations
	// are his groups. Nil means certificates say nothing.
	ClientCA dynamiccertificates.CAContentProvider
	// TokenFile holds static tokens, a line of CSV each: token, user, UID, and
	// optionally the groups. Empty means none.
	TokenFile string
	// Tokens are further authenticators of bearer tokens, in order: service accounts,
	// issuers of identities, webhooks.
	Tokens []authenticator.Token
	// Workspace authenticates who is known in one workspace only. Nil means nobody is.
	Workspace authenticator.Request
	// Anonymous lets those without a credential in as system:anonymous.
	Anonymous bool
	// DropGroups are groups that nobody is in whom anything but Admin has recognised, nor
	// by a warrant. A "*" at the end of one stands for any end. The groups that mark
	// initializers and terminators are always among them.
	DropGroups []string
}

// New returns the authenticator that config describes.
func New(config Config) (authenticator.Request, error) {
	tokens, err := config.tokens()
	if err != nil {
		return nil, err
	}
	var chain []authenticator.Request
	if config.RequestHeader != nil {
		chain = append(chain, requestHeader(config.RequestHeader))
	}
	if config.ClientCA != nil {
		chain = append(chain, clientCertificate(config.ClientCA))
	}
	// Without any tokens to know these refuse all, or who sends one would be anonymous.
	chain = append(chain, bearer(tokens...), websocketBearer(tokens...))
	if config.Workspace != nil {
		chain = append(chain, config.Workspace)
	}

	all := withoutGroups(union.New(chain...), config.DropGroups)
	if config.Admin != nil {
		all = union.New(bearer(config.Admin), all)
	}
	known := group.NewAuthenticatedGroupAdder(all)
	if !config.Anonymous {
		return known, nil
	}
	// An error ends this union: a rejected credential is no missing one.
	return union.NewFailOnError(known, anonymous.NewAuthenticator(nil)), nil
}

// tokens returns the authenticators of bearer tokens, in order.
func (c *Config) tokens() ([]authenticator.Token, error) {
	if c.TokenFile == "" {
		return c.Tokens, nil
	}
	file, err := tokenFile(c.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	return append([]authenticator.Token{file}, c.Tokens...), nil
}
