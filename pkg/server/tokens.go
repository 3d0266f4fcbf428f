package server

import (
	"encoding/pem"
	"fmt"
	"os"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/routes"
	kubeserviceaccount "k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/internal/authn/serviceaccount"
)

// tokens is what makes tokens of service accounts, and the keys they are checked by.
type tokens struct {
	// requested makes those that are requested, legacy those in secrets.
	requested, legacy kubeserviceaccount.TokenGenerator
	keys              kubeserviceaccount.PublicKeysGetter
}

// buildTokens reads keys and certificates and makes tokens of them.
func (s *Server) buildTokens() error {
	options := s.options.ServiceAccounts
	legacyKey, err := privateKey(options.LegacyKey, func() (any, error) { return serviceaccount.KeepKey(options.GeneratedKey) })
	if err != nil {
		return err
	}
	signingKey, err := privateKey(options.SigningKey, func() (any, error) { return legacyKey, nil })
	if err != nil {
		return err
	}
	if s.tokens.keys, err = serviceaccount.VerifyingKeys(options.VerifyingKeys, signingKey, legacyKey); err != nil {
		return err
	}
	if s.tokens.requested, err = serviceaccount.NewGenerator(options.Issuers[0], signingKey); err != nil {
		return fmt.Errorf("preparing to issue tokens of service accounts: %w", err)
	}
	if s.tokens.legacy, err = serviceaccount.NewLegacyGenerator(legacyKey); err != nil {
		return fmt.Errorf("preparing to make legacy tokens of service accounts: %w", err)
	}
	s.rootCA, err = rootCA(options.RootCAFile, s.options.Certificate.CertPEM)
	return err
}

// privateKey returns the key in file, or another one if there is no file.
func privateKey(file string, otherwise func() (any, error)) (any, error) {
	if file == "" {
		return otherwise()
	}
	return serviceaccount.PrivateKey(file)
}

// rootCA returns the certificates in file, or those that say whom to trust of serving if
// there is no file.
func rootCA(file string, serving []byte) (string, error) {
	if file == "" {
		return string(authority(serving)), nil
	}
	bundle, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--root-ca-file: %w", err)
	}
	if _, err := certutil.ParseCertsPEM(bundle); err != nil {
		return "", fmt.Errorf("--root-ca-file: reading %s: %w", file, err)
	}
	return string(bundle), nil
}

// authority returns the authority that ends a chain of certificates. It is enough for
// whoever knows the server by it, and every namespace has a copy of it. Without one it
// returns the chain.
func authority(chain []byte) []byte {
	certificates, err := certutil.ParseCertsPEM(chain)
	if err != nil {
		return chain
	}
	last := certificates[len(certificates)-1]
	if !last.IsCA || last.CheckSignatureFrom(last) != nil {
		return chain
	}
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: last.Raw})
}

// installIssuer serves what others need to know to check tokens of service accounts by
// themselves. They can only if the issuer is an https URL, so without one there is nothing
// to serve.
func (s *Server) installIssuer() {
	options := s.options.ServiceAccounts
	keys := options.JWKSURI
	if keys == "" {
		keys = s.options.URLs.External + kubeserviceaccount.JWKSPath
	}
	provider, err := kubeserviceaccount.NewOpenIDMetadataProvider(options.Issuers[0], keys, "", s.tokens.keys)
	if err != nil {
		klog.InfoS("The issuer of service account tokens cannot be discovered", "issuer", options.Issuers[0], "reason", err)
		return
	}
	routes.NewOpenIDMetadataServer(provider).Install(s.generic.Handler.GoRestfulContainer)
}
