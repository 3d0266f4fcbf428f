package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/controller"
	mountcontroller "github.com/forkless/kcp/internal/controllers/mount"
	"github.com/forkless/kcp/internal/features"
	"github.com/forkless/kcp/internal/inflight"
	"github.com/forkless/kcp/internal/proxy/mounted"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/tenancy/mount"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// mounts are the parts that mounted workspaces need. There are none with the feature gate off.
type mounts struct {
	policy *mount.Policy
	proxy  *mounted.Proxy
	// index is to be told of kinds that appear.
	index *mountcontroller.Index
}

// buildMounts makes what serves mounted workspaces.
func (s *Server) buildMounts() error {
	if !features.Enabled(features.WorkspaceMounts) {
		return nil
	}
	urls := s.options.URLs
	policy, err := mount.NewPolicy([]string{urls.External, urls.Base, urls.VirtualWorkspace}, s.options.Mounts.AllowedHosts)
	if err != nil {
		return err
	}
	config := mounted.Config{Policy: policy, Serializer: builtin.Codecs}
	if file := s.options.Mounts.CAFile; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading the CA of mounted servers: %w", err)
		}
		config.CAs = x509.NewCertPool()
		if !config.CAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("reading the CA of mounted servers: there is no certificate in %s", file)
		}
	}
	if s.options.Mounts.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(s.options.Mounts.CertFile, s.options.Mounts.KeyFile)
		if err != nil {
			return fmt.Errorf("reading the client certificate for mounted servers: %w", err)
		}
		config.Certificate = &certificate
	}
	s.mounts = &mounts{policy: policy, proxy: mounted.New(config)}
	return nil
}

// mountControllers returns the controller of mounted workspaces, if there can be any.
func (s *Server) mountControllers() ([]*controller.Controller, error) {
	if s.mounts == nil {
		return nil, nil
	}
	c, index, err := mountcontroller.New(mountcontroller.Config{
		Layer:      s.layer,
		Workspaces: s.workspaces,
		Kinds:      s.kinds,
		OpenStore:  s.openStore,
		Policy:     s.mounts.policy,
		Cut:        s.connections.CutMount,
		Clock:      clock.RealClock{},
	})
	if err != nil {
		return nil, err
	}
	s.mounts.index = index
	s.listeners = append(s.listeners, index)
	return []*controller.Controller{c}, nil
}

// withMounts puts what serves mounted workspaces before handler, which is behind
// authentication.
func (s *Server) withMounts(handler http.Handler, c *genericapiserver.Config) http.Handler {
	if s.mounts == nil {
		return handler
	}
	return s.mounts.proxy.WithMounts(handler, func(out http.Handler) http.Handler {
		seated := inflight.With(out, s.inFlight, c.LongRunningFunc)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// It takes the seats of the workspace that has mounted it.
			if found, ok := route.MountFrom(r.Context()); ok {
				r = r.WithContext(logicalcluster.NewContext(r.Context(), found.Parent))
			}
			seated.ServeHTTP(w, r)
		})
	})
}

// routeMounts returns where routing sends requests to mounted workspaces; nil if there are
// none. again routes them once more, next lets them out.
func (s *Server) routeMounts(again, next http.Handler) http.Handler {
	if s.mounts == nil {
		return nil
	}
	return s.mounts.proxy.Route(again, next)
}

// longRunning says which requests may stay open: those that basic says, and what only
// mounted servers have.
func longRunning(basic request.LongRunningRequestCheck) request.LongRunningRequestCheck {
	return func(r *http.Request, info *request.RequestInfo) bool {
		return basic(r, info) || mounted.IsLongRunning(r, info.Subresource)
	}
}
