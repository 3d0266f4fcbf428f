package server

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/storage"
)

// inFlight is how many requests may be under way that are not privileged. More are
// refused with 429.
const inFlight = 600

// buildGeneric makes upstream's server: serving, health, the built-in groups. What
// differs between clusters is put before it by the chain.
func (s *Server) buildGeneric() error {
	authenticate, authorities, err := s.authenticator()
	if err != nil {
		return err
	}
	admit, err := s.admission()
	if err != nil {
		return err
	}
	config, err := s.genericConfig(authenticate, admit)
	if err != nil {
		return err
	}
	for _, authority := range authorities {
		// Without one, TLS does not even ask clients for a certificate.
		if err := config.Authentication.ApplyClientCert(authority, config.SecureServing); err != nil {
			return err
		}
	}
	if err := s.buildCatalog(admit, config); err != nil {
		return err
	}
	s.buildDocuments(config)
	s.addVirtualWorkspaces()
	s.buildHomes()
	if s.generic, err = config.Complete(nil).New("kcp", genericapiserver.NewEmptyDelegate()); err != nil {
		return err
	}
	s.generic.AggregatedLegacyDiscoveryGroupManager = s.builtins
	if err := s.addShutdown(); err != nil {
		return err
	}
	s.installMetrics()
	if s.groups, err = builtin.New(s.builtinConfig(authenticate)); err != nil {
		return err
	}
	s.installIssuer()
	return s.groups.Install(s.generic)
}

func (s *Server) genericConfig(authenticate authenticator.Request, admit admission.Interface) (*genericapiserver.Config, error) {
	serving, err := s.options.Serving.Info(s.listener(), s.options.Certificate)
	if err != nil {
		return nil, err
	}
	config := genericapiserver.NewConfig(builtin.Codecs)
	config.EffectiveVersion = effectiveVersion()
	config.SecureServing = serving
	config.ExternalAddress = s.options.Listener.Addr().String()
	config.LoopbackClientConfig = &rest.Config{Host: s.options.URLs.Base}
	config.Authentication.Authenticator = authenticate
	config.Authentication.APIAudiences = s.options.Authentication.APIAudiences
	config.Authorization.Authorizer = s.virtual.Authorizer(s.authorizer)
	config.AdmissionControl = admit
	config.OpenAPIV3Config = s.types.OpenAPIV3Config("kcp", effectiveVersion().Info().GitVersion)
	config.OpenAPIConfig = s.types.OpenAPIConfig("kcp", effectiveVersion().Info().GitVersion)
	config.AggregatedDiscoveryGroupManager = s.builtins
	config.BuildHandlerChainFunc = s.chain
	config.LongRunningFunc = longRunning(config.LongRunningFunc)

	// Documents and discovery differ between clusters and come from our own packages.
	config.SkipOpenAPIInstallation = true
	config.EnableDiscovery = false
	// It counts objects for priority and fairness, which is not in use.
	config.StorageObjectCountTracker = nil

	// Requests in flight are bounded, and measured, by our own filter.
	if err := config.AddPostStartHook("max-in-flight-filter", func(genericapiserver.PostStartHookContext) error { return nil }); err != nil {
		return nil, err
	}
	config.RequestTimeout = s.options.Requests.Timeout
	// So are they with what we measure ourselves.
	config.EnableMetrics = false
	config.EnableProfiling = s.options.Observability.Profiling
	config.EnableContentionProfiling = s.options.Observability.ContentionProfiling
	config.CorsAllowedOriginList = s.options.Requests.CORSAllowedOrigins
	config.HSTSDirectives = s.options.Requests.HSTSDirectives
	config.GoawayChance = s.options.Requests.GoawayChance
	config.LivezGracePeriod = s.options.Shutdown.LivezGracePeriod
	config.ShutdownDelayDuration = s.options.Shutdown.Delay
	config.ShutdownSendRetryAfter = s.options.Shutdown.SendRetryAfter
	config.ShutdownWatchTerminationGracePeriod = s.watchGracePeriod()
	for _, checks := range [][]healthz.HealthChecker{config.HealthzChecks, config.LivezChecks, config.ReadyzChecks} {
		checkLog(checks)
	}
	config.AddHealthChecks(s.etcdCheck("etcd", s.options.Etcd.HealthTimeout))
	config.AddReadyzChecks(s.etcdCheck("etcd-readiness", s.options.Etcd.ReadyTimeout))
	if err := s.encrypt(config); err != nil {
		return nil, err
	}
	tracing := &genericoptions.TracingOptions{ConfigFile: s.options.Observability.TracingConfigFile}
	if err := tracing.ApplyTo(nil, config); err != nil {
		return nil, err
	}
	return config, s.options.Audit.ApplyTo(config)
}

func (s *Server) builtinConfig(authenticate authenticator.Request) builtin.Config {
	rules := authz.NewRules(s.bootstrap, s.policy)
	return builtin.Config{
		RESTOptions: s.registries(storage.Registries{
			Serializers:             func(group string) runtime.StorageSerializer { return builtin.StorageCodecs(group) },
			MediaType:               s.options.Etcd.MediaType,
			Version:                 builtin.StorageVersion,
			DeleteCollectionWorkers: s.options.Etcd.DeleteCollectionWorkers,
			Share:                   builtin.Share,
		}),
		Authorizer:    s.authorizer.Reviews(),
		RoleRules:     rules,
		UserRules:     rules.Reviewable(),
		Authenticator: authenticate,
		Audiences:     s.options.Authentication.APIAudiences,
		Kinds:         s.resourceOf,
		Tokens: &builtin.Tokens{
			Issuer:           s.tokens.requested,
			Audiences:        s.options.Authentication.APIAudiences,
			MaxExpiration:    s.options.ServiceAccounts.MaxExpiration,
			ExtendExpiration: s.options.ServiceAccounts.ExtendExpiration,
		},
		Workloads: s.workloads(),
		Single:    s.single(),
		EventTTL:  s.options.EventTTL(),
	}
}

// checkLog replaces upstream's check whether the log can be written, which leaves a
// goroutine that never ends in the process: a log that cannot is one that this one waits
// for, which health checks do not for long.
func checkLog(checks []healthz.HealthChecker) {
	for i, check := range checks {
		if check == healthz.LogHealthz {
			checks[i] = healthz.NamedCheck(check.Name(), func(*http.Request) error {
				klog.Flush()
				return nil
			})
		}
	}
}

// etcdCheck checks that etcd answers in time.
func (s *Server) etcdCheck(name string, timeout time.Duration) healthz.HealthChecker {
	return healthz.NamedGroupedCheck(name, name, func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		return s.layer.Healthy(ctx)
	})
}
