// Package version says which kcp this is and which Kubernetes it is made of.
//
// Release builds are stamped through k8s.io/component-base/version with a version in
// the form "v1.36.3+kcp-v0.3.0". Without a stamp (go run, go install, go test) what
// the Go toolchain recorded in the binary is used.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	baseversion "k8s.io/component-base/version"
)

// Info is what a binary knows about itself.
type Info struct {
	// Version is the version of kcp, such as v0.3.0.
	Version string `json:"version"`
	// Kubernetes is the version of the Kubernetes libraries, without a "v": 1.36.3.
	Kubernetes string `json:"kubernetes"`
	// Commit is the commit the binary was built from; empty if it is not known.
	Commit string `json:"commit,omitempty"`
	// Go is the version of the compiler.
	Go string `json:"go"`
	// Platform is the operating system and the architecture, as in linux/amd64.
	Platform string `json:"platform"`
}

// String returns the versions as people read them: kcp v0.3.0 (Kubernetes 1.36.3).
func (i Info) String() string {
	if i.Kubernetes == "" {
		return "kcp " + i.Version
	}
	return fmt.Sprintf("kcp %s (Kubernetes %s)", i.Version, i.Kubernetes)
}

// separator stands between the versions of Kubernetes and of kcp in a stamp.
const separator = "+kcp-"

// unknown is the version of a binary of which nothing was recorded.
const unknown = "v0.0.0"

// kubernetesModule is the module whose version is that of Kubernetes.
const kubernetesModule = "k8s.io/kubernetes"

// kubernetesVersion is that version where the binary does not record its modules, as
// those of tests do not. A test compares it with go.mod.
const kubernetesVersion = "1.36.3"

// Get returns what is known of this binary.
func Get() Info { return get() }

var get = sync.OnceValue(func() Info {
	stamp := baseversion.Get()
	build, _ := debug.ReadBuildInfo()
	return read(stamp.GitVersion, stamp.GitCommit, build)
})

// read makes an Info from a stamp and, where the stamp says nothing, from build.
func read(gitVersion, gitCommit string, build *debug.BuildInfo) Info {
	info := Info{Version: unknown, Kubernetes: kubernetesVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if kubernetes, kcp, stamped := strings.Cut(gitVersion, separator); stamped {
		info.Version = kcp
		info.Kubernetes = strings.TrimPrefix(kubernetes, "v")
		info.Commit = gitCommit
		return info
	}
	if build == nil {
		return info
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = v
	}
	for _, module := range build.Deps {
		if module.Path == kubernetesModule {
			info.Kubernetes = strings.TrimPrefix(module.Version, "v")
		}
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			info.Commit = setting.Value
		}
	}
	return info
}
