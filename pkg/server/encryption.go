package server

import (
	"context"
	"errors"
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/controller"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
)

// encrypt makes the stores encrypt what the options say. It comes before they are opened.
// Keys are the same for all workspaces.
func (s *Server) encrypt(config *genericapiserver.Config) error {
	file, reload := s.options.Etcd.EncryptionConfig, s.options.Etcd.EncryptionReload
	if file == "" {
		return nil
	}
	metrics.RegisterMetrics()
	// What the transformers run, such as connections to a KMS, ends with the controllers.
	ctx, stop := context.WithCancel(context.Background())
	loaded, err := encryptionconfig.LoadEncryptionConfig(ctx, file, reload, config.APIServerID)
	if err != nil {
		stop()
		return fmt.Errorf("reading --encryption-provider-config: %w", err)
	}
	metrics.RecordEncryptionConfigLastConfigInfo(config.APIServerID, loaded.EncryptionFileContentHash)
	if !reload {
		s.controllerWork.atStop(stop)
		s.layer.Encrypt(encryptionconfig.StaticTransformers(loaded.Transformers))
		addHealthChecksButLive(config, loaded.HealthChecks...)
		return nil
	}
	if len(loaded.HealthChecks) != 1 {
		stop()
		return errors.New("reading --encryption-provider-config: there has to be one health check to reload it")
	}
	dynamic := encryptionconfig.NewDynamicTransformers(loaded.Transformers, loaded.HealthChecks[0], stop, loaded.KMSCloseGracePeriod)
	s.layer.Encrypt(dynamic)
	addHealthChecksButLive(config, dynamic)
	return config.AddPostStartHook("start-encryption-provider-config-automatic-reload", func(hook genericapiserver.PostStartHookContext) error {
		reloader := controller.NewDynamicEncryptionConfiguration("encryption-provider-config-automatic-reload-controller",
			file, dynamic, loaded.EncryptionFileContentHash, config.APIServerID)
		s.controllerWork.start(hook, reloader.Run)
		return nil
	})
}

// addHealthChecksButLive adds checks to all but /livez: a restart does not bring a KMS
// back.
func addHealthChecksButLive(config *genericapiserver.Config, checks ...healthz.HealthChecker) {
	config.AddHealthzChecks(checks...)
	config.AddReadyzChecks(checks...)
}
