package server

import (
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"

	"github.com/forkless/kcp/internal/version"
)

// effective is the version of Kubernetes that is served, told with ours.
type effective struct{ compatibility.EffectiveVersion }

func effectiveVersion() compatibility.EffectiveVersion {
	return effective{compatibility.NewEffectiveVersionFromString(version.Get().Kubernetes, "", "")}
}

// Info returns what /version says.
func (e effective) Info() *apiversion.Info {
	info, own := e.EffectiveVersion.Info(), version.Get()
	info.GitVersion = "v" + own.Kubernetes + "+kcp-" + own.Version
	info.GitCommit = own.Commit
	return info
}
