package options

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/forkless/kcp/internal/authn/identity"
)

// AuthenticationOptions say how callers may prove who they are.
type AuthenticationOptions struct {
	// Anonymous lets callers without a credential in as system:anonymous.
	Anonymous bool
	// TokenFile holds static bearer tokens.
	TokenFile string
	// ClientCert and RequestHeader are those of every Kubernetes API server.
	ClientCert    genericoptions.ClientCertAuthenticationOptions
	RequestHeader genericoptions.RequestHeaderAuthenticationOptions
	// APIAudiences are the audiences a token must be for one of; the first issuer of
	// service account tokens if empty.
	APIAudiences []string
	// DropGroups are groups that no credential from elsewhere brings.
	DropGroups []string
	// BootstrapTokens accepts bootstrap tokens.
	BootstrapTokens bool
	// ConfigFile holds an AuthenticationConfiguration.
	ConfigFile string
	// OIDC accepts the tokens of one issuer.
	OIDC OIDCOptions
	// Webhook asks somebody else about tokens.
	Webhook TokenWebhookOptions
}

// OIDCOptions accept the tokens of one OpenID Connect issuer.
type OIDCOptions struct {
	IssuerURL, ClientID, CAFile   string
	UsernameClaim, UsernamePrefix string
	GroupsClaim, GroupsPrefix     string
	SigningAlgorithms             []string
	RequiredClaims                map[string]string
}

// TokenWebhookOptions ask somebody else about tokens.
type TokenWebhookOptions struct {
	ConfigFile, Version string
	CacheTTL            time.Duration
}

func newAuthenticationOptions() AuthenticationOptions {
	return AuthenticationOptions{
		Anonymous: true,
		// Unlike behind a front proxy system:masters stays: there is no other door by which
		// the operator's own credentials could come in.
		DropGroups: []string{identity.LogicalClusterAdmin, identity.InitializerPrefix + "*", identity.TerminatorPrefix + "*"},
		OIDC:       OIDCOptions{UsernameClaim: "sub", SigningAlgorithms: []string{"RS256"}},
		Webhook:    TokenWebhookOptions{Version: "v1beta1", CacheTTL: 2 * time.Minute},
	}
}

// AddFlags adds the flags of the group to fs.
func (o *AuthenticationOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Anonymous, "anonymous-auth", o.Anonymous,
		"Let requests without a credential in as user system:anonymous with group system:unauthenticated.")
	fs.StringVar(&o.TokenFile, "token-auth-file", o.TokenFile,
		"File with bearer tokens, a line of CSV each: token,user,uid,\"group1,group2\".")
	o.ClientCert.AddFlags(fs)
	o.RequestHeader.AddFlags(fs)
	fs.StringSliceVar(&o.APIAudiences, "api-audiences", o.APIAudiences,
		"Audiences of which a service account token must be for one. (default the first --service-account-issuer)")
	fs.StringSliceVar(&o.DropGroups, "authentication-drop-groups", o.DropGroups,
		"Groups that client certificates, tokens and front proxies cannot put anybody into. A * at the end stands for any end. "+
			"Those of initializers and terminators are dropped in any case; the admin users of the server's own kubeconfig keep all groups.")
	fs.BoolVar(&o.BootstrapTokens, "enable-bootstrap-token-auth", o.BootstrapTokens,
		"Accept the tokens in secrets of type bootstrap.kubernetes.io/token in kube-system of system:admin.")
	fs.StringVar(&o.ConfigFile, "authentication-config", o.ConfigFile,
		"File with an AuthenticationConfiguration. Cannot be used with --oidc flags.")
	o.OIDC.addFlags(fs)
	o.Webhook.addFlags(fs)
}

func (o *OIDCOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.IssuerURL, "oidc-issuer-url", o.IssuerURL, "HTTPS URL of the issuer whose ID tokens are accepted.")
	fs.StringVar(&o.ClientID, "oidc-client-id", o.ClientID, "Client that ID tokens must be for.")
	fs.StringVar(&o.CAFile, "oidc-ca-file", o.CAFile, "CA certificates to trust the issuer by. (default those of the system)")
	fs.StringVar(&o.UsernameClaim, "oidc-username-claim", o.UsernameClaim, "Claim that holds the user name.")
	fs.StringVar(&o.UsernamePrefix, "oidc-username-prefix", o.UsernamePrefix,
		"Prefix of user names. Without it, claims other than email are prefixed with the issuer's URL; - stands for no prefix.")
	fs.StringVar(&o.GroupsClaim, "oidc-groups-claim", o.GroupsClaim, "Claim that holds the groups.")
	fs.StringVar(&o.GroupsPrefix, "oidc-groups-prefix", o.GroupsPrefix, "Prefix of groups.")
	fs.StringSliceVar(&o.SigningAlgorithms, "oidc-signing-algs", o.SigningAlgorithms, "Signature algorithms to accept.")
	fs.Var(cliflag.NewMapStringStringNoSplit(&o.RequiredClaims), "oidc-required-claim",
		"A claim that must be there, as key=value. May be repeated.")
}

func (o *TokenWebhookOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ConfigFile, "authentication-token-webhook-config-file", o.ConfigFile,
		"Kubeconfig of a service that reviews bearer tokens.")
	fs.StringVar(&o.Version, "authentication-token-webhook-version", o.Version,
		"Version of authentication.k8s.io to speak with it.")
	fs.DurationVar(&o.CacheTTL, "authentication-token-webhook-cache-ttl", o.CacheTTL,
		"How long its answers are remembered.")
}

// Validate says what is wrong with the options.
func (o *AuthenticationOptions) Validate() []error {
	all := o.RequestHeader.Validate()
	if len(o.RequestHeader.UsernameHeaders) > 0 && o.RequestHeader.ClientCAFile == "" {
		// Without a CA nobody could tell the proxy from an impostor.
		all = append(all, errors.New("--requestheader-username-headers needs --requestheader-client-ca-file"))
	}
	if o.RequestHeader.ClientCAFile != "" && len(o.RequestHeader.UsernameHeaders) == 0 {
		all = append(all, errors.New("--requestheader-client-ca-file needs --requestheader-username-headers"))
	}
	// A client certificate of that CA could otherwise name any user in headers.
	if ca := o.RequestHeader.ClientCAFile; ca != "" && ca == o.ClientCert.ClientCA && len(o.RequestHeader.AllowedNames) == 0 {
		all = append(all, fmt.Errorf("--client-ca-file and --requestheader-client-ca-file are both %s, "+
			"which needs --requestheader-allowed-names", ca))
	}
	if (o.OIDC.IssuerURL == "") != (o.OIDC.ClientID == "") {
		all = append(all, errors.New("--oidc-issuer-url and --oidc-client-id must be given together"))
	}
	if o.ConfigFile != "" && o.OIDC.IssuerURL != "" {
		all = append(all, errors.New("--authentication-config cannot be used with --oidc-issuer-url"))
	}
	return all
}

// Authentication is how callers may prove who they are.
type Authentication struct {
	// Anonymous lets callers without a credential in as system:anonymous.
	Anonymous bool
	// TokenFile holds static bearer tokens; empty means none.
	TokenFile string
	// ClientCAFile holds the CAs of client certificates; empty means they say nothing.
	ClientCAFile string
	// RequestHeader says which proxy may name users in headers. It yields nothing if
	// its ClientCAFile is empty; see ToAuthenticationRequestHeaderConfig.
	RequestHeader genericoptions.RequestHeaderAuthenticationOptions
	// APIAudiences are the audiences a token must be for one of.
	APIAudiences []string
	// DropGroups are groups that no credential from elsewhere brings. A "*" at the end
	// of one stands for any end.
	DropGroups []string
}
