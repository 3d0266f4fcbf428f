package builtin

import (
	lease "k8s.io/kubernetes/pkg/registry/coordination/lease/storage"
)

func coordination(config *Config, _ *shared) (storages, error) {
	leases, err := lease.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	shareTables(leases.Store)
	return storages{"leases": leases}, nil
}
