package server

import (
	"fmt"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/keyutil"

	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn"
	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/internal/authn/serviceaccount"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/server/options"
)

// buildAuthorization makes the authorizer. The policy of system:admin begins with what
// is built in and is replaced by what is stored once that can be read.
func (s *Server) buildAuthorization() error {
	snapshot, err := authz.NewSnapshot(rbac.SystemAdmin())
	if err != nil {
		return err
	}
	s.bootstrap = authz.NewBootstrap(snapshot)
	s.authorizer, err = authz.New(authz.Config{
		Order:            s.options.Authorization.Order,
		AlwaysAllowPaths: s.options.Authorization.AlwaysAllowPaths,
		Bootstrap:        s.bootstrap,
		Local:            s.policy,
		LogicalClusters:  s.logicalClusters,
		Audited:          s.options.Audit.PolicyFile != "",
	})
	return err
}

// authenticator makes the authenticator, and writes the kubeconfig of the admin users,
// which people and tests wait for.
func (s *Server) authenticator() (authenticator.Request, error) {
	requestHeader, err := s.options.Authentication.RequestHeader.ToAuthenticationRequestHeaderConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the CA of the front proxy: %w", err)
	}
	config := authn.Config{
		RequestHeader: requestHeader,
		TokenFile:     s.options.Authentication.TokenFile,
		Anonymous:     s.options.Authentication.Anonymous,
	}
	if file := s.options.Authentication.ClientCAFile; file != "" {
		if config.ClientCA, err = dynamiccertificates.NewDynamicCAContentFromFile("client-ca", file); err != nil {
			return nil, fmt.Errorf("reading the CA of client certificates: %w", err)
		}
	}
	if s.options.Batteries.Has(options.AdminBattery) {
		battery, err := s.adminBattery()
		if err != nil {
			return nil, err
		}
		config.Admin = battery.Authenticator()
	}
	accounts, err := s.buildTokens()
	if err != nil {
		return nil, err
	}
	config.Tokens = []authenticator.Token{accounts}
	return authn.New(config)
}

// buildTokens makes what issues tokens of service accounts, and returns what checks them.
func (s *Server) buildTokens() (authenticator.Token, error) {
	key, err := s.tokenKey()
	if err != nil {
		return nil, err
	}
	options := s.options.ServiceAccounts
	if s.tokens, err = serviceaccount.NewGenerator(options.Issuer, key); err != nil {
		return nil, fmt.Errorf("preparing to issue tokens of service accounts: %w", err)
	}
	return serviceaccount.NewAuthenticator(options.Issuer, []any{key}, s.options.Authentication.APIAudiences, cached.NewAccounts(s.layer))
}

// tokenKey returns the key that signs tokens of service accounts.
func (s *Server) tokenKey() (any, error) {
	if file := s.options.ServiceAccounts.SigningKey; file != "" {
		key, err := keyutil.PrivateKeyFromFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the key that signs tokens of service accounts: %w", err)
		}
		return key, nil
	}
	return serviceaccount.KeepKey(s.options.ServiceAccounts.GeneratedKey)
}

func (s *Server) adminBattery() (*admin.Battery, error) {
	files := admin.Files{TokenHash: s.options.Admin.TokenHashPath, Kubeconfig: s.options.Admin.KubeconfigPath}
	battery, err := admin.Prepare(files, s.options.Batteries.Has(options.UserBattery))
	if err != nil {
		return nil, err
	}
	return battery, battery.Write(s.options.URLs.Base, s.options.Certificate.CertPEM)
}
