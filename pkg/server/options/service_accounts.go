package options

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// defaultIssuer issues service account tokens unless told otherwise.
const defaultIssuer = "https://kcp.default.svc"

// The shortest and the longest maximum that may be set, as in Kubernetes: clients ask for
// ten minutes at least.
const (
	minTokenExpiration = 10 * time.Minute
	maxTokenExpiration = (1 << 32) * time.Second
)

// ServiceAccountOptions are about the tokens of service accounts.
type ServiceAccountOptions struct {
	// Issuers are who may have issued a token; the first one issues.
	Issuers []string
	// KeyFiles verify tokens, SigningKeyFile signs those that are requested, and
	// PrivateKeyFile legacy ones, in secrets. What is signed here is always accepted.
	KeyFiles                       []string
	SigningKeyFile, PrivateKeyFile string
	// Lookup makes sure that the account of a token still exists.
	Lookup bool
	// MaxExpiration bounds the life of tokens; 0 means unbounded.
	MaxExpiration time.Duration
	// ExtendExpiration lets tokens of old clients live longer.
	ExtendExpiration bool
	// JWKSURI is where the keys can be had, if not here.
	JWKSURI string
	// RootCAFile is what workspaces are told to trust the server by; the serving
	// certificate if empty.
	RootCAFile string
}

func newServiceAccountOptions() ServiceAccountOptions {
	return ServiceAccountOptions{Issuers: []string{defaultIssuer}, Lookup: true, ExtendExpiration: true}
}

// AddFlags adds the flags of the group to fs.
func (o *ServiceAccountOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.Issuers, "service-account-issuer", o.Issuers,
		"Issuer of service account tokens. If repeated, the first one issues, and the tokens of all are accepted.")
	fs.StringArrayVar(&o.KeyFiles, "service-account-key-file", o.KeyFiles,
		"PEM file with further keys to verify service account tokens by, besides those they are signed with. May be repeated.")
	fs.StringVar(&o.SigningKeyFile, "service-account-signing-key-file", o.SigningKeyFile,
		"PEM file with the key to sign service account tokens with. (default that of legacy tokens)")
	fs.StringVar(&o.PrivateKeyFile, "service-account-private-key-file", o.PrivateKeyFile,
		"PEM file with the key to sign legacy service account tokens with. (default <root-directory>/sa.key, which is made)")
	fs.BoolVar(&o.Lookup, "service-account-lookup", o.Lookup, "Accept legacy tokens of existing service accounts and secrets only. Other tokens always are.")
	fs.DurationVar(&o.MaxExpiration, "service-account-max-token-expiration", o.MaxExpiration,
		"The longest life of a service account token, at least 10m. 0 means unbounded.")
	fs.BoolVar(&o.ExtendExpiration, "service-account-extend-token-expiration", o.ExtendExpiration,
		"Let tokens that are bound to pods live for a year, for clients that do not renew them. There are no pods in workspaces.")
	fs.StringVar(&o.JWKSURI, "service-account-jwks-uri", o.JWKSURI,
		"Where the keys of service account tokens can be had, in the discovery document.")
	fs.StringVar(&o.RootCAFile, "root-ca-file", o.RootCAFile,
		"CA certificates for kube-root-ca.crt in workspaces. (default the serving certificate)")
}

// Validate says what is wrong with the options.
func (o *ServiceAccountOptions) Validate() []error {
	var all []error
	if len(o.Issuers) == 0 {
		all = append(all, errors.New("--service-account-issuer is empty"))
	}
	seen := map[string]bool{}
	for _, issuer := range o.Issuers {
		_, err := url.Parse(issuer)
		switch {
		case issuer == "":
			all = append(all, errors.New("--service-account-issuer is empty"))
		case strings.Contains(issuer, ":") && err != nil:
			all = append(all, fmt.Errorf("--service-account-issuer=%s contains a colon but is not a URL: %w", issuer, err))
		case seen[issuer]:
			all = append(all, fmt.Errorf("--service-account-issuer=%s is given twice", issuer))
		}
		seen[issuer] = true
	}
	if o.MaxExpiration != 0 && o.MaxExpiration < minTokenExpiration {
		all = append(all, fmt.Errorf("--service-account-max-token-expiration=%s is below %s", o.MaxExpiration, minTokenExpiration))
	}
	if o.MaxExpiration > maxTokenExpiration {
		all = append(all, fmt.Errorf("--service-account-max-token-expiration=%s is above %s", o.MaxExpiration, maxTokenExpiration))
	}
	if u, err := url.Parse(o.JWKSURI); o.JWKSURI != "" && (err != nil || u.Scheme != "https") {
		all = append(all, fmt.Errorf("--service-account-jwks-uri=%s is not an https URL", o.JWKSURI))
	}
	return all
}

// ServiceAccounts is how tokens of service accounts are made and checked.
type ServiceAccounts struct {
	// Issuers are whose tokens are accepted; the first one issues.
	Issuers []string
	// LegacyKey is the file with the private key for tokens in secrets; empty if one is
	// to be made.
	LegacyKey string
	// SigningKey is the file with the private key for tokens that are requested; empty if
	// it is the same as that for tokens in secrets.
	SigningKey string
	// GeneratedKey is where a key that is made is kept; empty if it is not to be kept.
	GeneratedKey string
	// VerifyingKeys are files with keys of tokens that are accepted besides.
	VerifyingKeys []string
	// Lookup makes legacy tokens depend on their account and secret.
	Lookup bool
	// MaxExpiration bounds the life of tokens; 0 means unbounded.
	MaxExpiration time.Duration
	// ExtendExpiration lets tokens that are bound to pods live longer.
	ExtendExpiration bool
	// JWKSURI is where the keys can be had; empty if it is here.
	JWKSURI string
	// RootCAFile is what workspaces are told to trust the server by; empty if it is the
	// serving certificate.
	RootCAFile string
}

func (o *Options) completeServiceAccounts(p *paths, generated string) ServiceAccounts {
	completed := ServiceAccounts{
		Issuers:          o.ServiceAccounts.Issuers,
		LegacyKey:        p.absolute(o.ServiceAccounts.PrivateKeyFile),
		SigningKey:       p.absolute(o.ServiceAccounts.SigningKeyFile),
		GeneratedKey:     generated,
		Lookup:           o.ServiceAccounts.Lookup,
		MaxExpiration:    o.ServiceAccounts.MaxExpiration,
		ExtendExpiration: o.ServiceAccounts.ExtendExpiration,
		JWKSURI:          o.ServiceAccounts.JWKSURI,
		RootCAFile:       p.absolute(o.ServiceAccounts.RootCAFile),
	}
	for _, file := range o.ServiceAccounts.KeyFiles {
		completed.VerifyingKeys = append(completed.VerifyingKeys, p.absolute(file))
	}
	return completed
}
