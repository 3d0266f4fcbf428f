package kubeconfig

import "k8s.io/client-go/tools/clientcmd/api"

// readOnlyName is the extension of a kubeconfig that our commands write nothing with.
const readOnlyName = "workspace.kcp.io/read-only"

// readOnly is the extension as it stands in the file.
type readOnly struct {
	ReadOnly bool `json:"readOnly"`
}

// MakeReadOnly makes our commands refuse to write with config. kubectl does not know.
func MakeReadOnly(config *api.Config) {
	config.Extensions = writeExtension(config.Extensions, readOnlyName, readOnly{ReadOnly: true})
}

// ReadOnly says whether commands are to refuse to write.
func (s *Snapshot) ReadOnly() bool { return isReadOnly(s.config) }

func isReadOnly(config *api.Config) bool {
	var stored readOnly
	return readExtension(config.Extensions, readOnlyName, &stored) && stored.ReadOnly
}
