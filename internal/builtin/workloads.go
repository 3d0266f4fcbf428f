package builtin

import (
	"github.com/forkless/kcp/internal/builtin/workload"
)

// buildWorkloads builds the workload types, if they are to be served.
func buildWorkloads(config *Config, common *shared) error {
	if config.Workloads == nil {
		return nil
	}
	groups, stores, err := workload.New(workload.Config{
		RESTOptions: config.RESTOptions,
		Authorizer:  config.Authorizer,
		Services:    *config.Workloads,
		Single:      config.Single,
	})
	if err != nil {
		return err
	}
	shareTables(stores...)
	common.workloads = groups
	return nil
}
