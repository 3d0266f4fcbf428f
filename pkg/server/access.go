package server

import (
	"fmt"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn"
	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/internal/authn/serviceaccount"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/virtual"
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
		Exports:          boundExports{s},
		Single:           s.single(),
		Audited:          s.options.Audit.PolicyFile != "",
	})
	if err != nil {
		return err
	}
	s.virtual, err = virtual.New(virtual.Config{
		AlwaysAllowPaths: s.options.Authorization.AlwaysAllowPaths,
		Clusters:         s.logicalClusters,
		Serializer:       builtin.Codecs,
	})
	return err
}

// authenticator makes the authenticator, and writes the kubeconfig of the admin users,
// which people and tests wait for. authorities are those whose certificates it knows, which
// clients have to be asked for.
func (s *Server) authenticator() (_ authenticator.Request, authorities []dynamiccertificates.CAContentProvider, _ error) {
	requestHeader, err := s.options.Authentication.RequestHeader.ToAuthenticationRequestHeaderConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the CA of the front proxy: %w", err)
	}
	config := authn.Config{
		RequestHeader: requestHeader,
		TokenFile:     s.options.Authentication.TokenFile,
		Anonymous:     s.options.Authentication.Anonymous,
		DropGroups:    s.options.Authentication.DropGroups,
	}
	if file := s.options.Authentication.ClientCAFile; file != "" {
		if config.ClientCA, err = dynamiccertificates.NewDynamicCAContentFromFile("client-ca", file); err != nil {
			return nil, nil, fmt.Errorf("reading the CA of client certificates: %w", err)
		}
		authorities = append(authorities, config.ClientCA)
	}
	if requestHeader != nil {
		authorities = append(authorities, requestHeader.CAContentProvider)
	}
	if s.options.Batteries.Has(options.AdminBattery) {
		battery, err := s.adminBattery()
		if err != nil {
			return nil, nil, err
		}
		config.Admin = battery.Authenticator()
	}
	config.Tokens, err = serviceaccount.NewAuthenticators(serviceaccount.Config{
		Issuers:   s.options.ServiceAccounts.Issuers,
		Keys:      s.tokens.keys,
		Audiences: s.options.Authentication.APIAudiences,
		Accounts:  s.accounts,
		Bound:     s.bound(),
		Lookup:    s.options.ServiceAccounts.Lookup,
	})
	if err != nil {
		return nil, nil, err
	}
	authenticate, err := authn.New(config)
	return authenticate, authorities, err
}

func (s *Server) adminBattery() (*admin.Battery, error) {
	files := admin.Files{TokenHash: s.options.Admin.TokenHashPath, Kubeconfig: s.options.Admin.KubeconfigPath}
	battery, err := admin.Prepare(files, s.options.Batteries.Has(options.UserBattery))
	if err != nil {
		return nil, err
	}
	return battery, battery.Write(s.options.URLs.Base, s.options.Certificate.CertPEM)
}
