package builtin

import (
	certificate "k8s.io/kubernetes/pkg/registry/certificates/certificates/storage"
)

// certificates serves signing requests. Nothing here signs them.
func certificates(config *Config, _ *shared) (storages, error) {
	requests, status, approval, err := certificate.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	shareTables(requests.Store)
	return storages{
		"certificatesigningrequests":          requests,
		"certificatesigningrequests/status":   status,
		"certificatesigningrequests/approval": approval,
	}, nil
}
