package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ownUser is what a user is called that the flags alone describe.
const ownUser = "workspace.kcp.io/user"

// Private returns a kubeconfig with one context, which leads to the workspace p on the
// server of s as the user that s stands for, flags considered. Certificates are in it,
// not beside it.
func (s *Snapshot) Private(p logicalcluster.Path) (*api.Config, error) {
	merged, err := s.clientConfig().MergedRawConfig()
	if err != nil {
		return nil, err
	}
	from := merged.Contexts[merged.CurrentContext]
	if from == nil || merged.Clusters[from.Cluster] == nil {
		return nil, noCurrent(&merged)
	}
	private := api.NewConfig()
	private.CurrentContext = currentName

	context := from.DeepCopy()
	context.LocationOfOrigin = ""
	delete(context.Extensions, historyName)
	user := merged.AuthInfos[from.AuthInfo]
	context.Cluster, context.AuthInfo = currentName, cmp.Or(from.AuthInfo, ownUser)
	private.Contexts[currentName] = context

	cluster := merged.Clusters[from.Cluster].DeepCopy()
	cluster.Server = placeOf(cluster.Server).At(p)
	private.Clusters[currentName] = cluster
	if user != nil {
		private.AuthInfos[context.AuthInfo] = user.DeepCopy()
	}
	if s.ReadOnly() {
		MakeReadOnly(private)
	}
	return private, flatten(private)
}

// Reduced returns what Private does, together with those entries of the kubeconfig that
// lead to the same server: other contexts, the history and the pins.
func (s *Snapshot) Reduced(p logicalcluster.Path) (*api.Config, error) {
	reduced, err := s.Private(p)
	if err != nil {
		return nil, err
	}
	base := placeOf(reduced.Clusters[currentName].Server).Base
	all := s.config.DeepCopy()
	for name, context := range all.Contexts {
		cluster := all.Clusters[context.Cluster]
		if name == currentName || cluster == nil || !path.SameServer(placeOf(cluster.Server).Base, base) {
			continue
		}
		if context.Cluster == currentName {
			// The entry of that name is the private one.
			context.Cluster = name
		}
		reduced.Contexts[name], reduced.Clusters[context.Cluster] = context, cluster
		if user := all.AuthInfos[context.AuthInfo]; user != nil && reduced.AuthInfos[context.AuthInfo] == nil {
			reduced.AuthInfos[context.AuthInfo] = user
		}
		context.LocationOfOrigin = ""
	}
	h := historyOf(all)
	h.Visited = keepServer(h.Visited, base)
	remember(reduced, h)
	for _, pin := range pinsOf(all) {
		if path.SameServer(pin.Base, base) {
			SetPin(reduced, pin.Name, base, pin.Path)
		}
	}
	return reduced, flatten(reduced)
}

func keepServer(visited []string, base string) []string {
	var kept []string
	for _, server := range visited {
		if path.SameServer(placeOf(server).Base, base) {
			kept = append(kept, server)
		}
	}
	return kept
}

// flatten puts certificates into config that it refers to. Flags name files from the
// working directory, and entries of files have been made absolute when they were read.
func flatten(config *api.Config) error {
	for _, user := range config.AuthInfos {
		user.LocationOfOrigin = ""
		for _, file := range []*string{&user.ClientCertificate, &user.ClientKey, &user.TokenFile} {
			if err := makeAbsolute(file); err != nil {
				return err
			}
		}
	}
	for _, cluster := range config.Clusters {
		cluster.LocationOfOrigin = ""
		if err := makeAbsolute(&cluster.CertificateAuthority); err != nil {
			return err
		}
	}
	return api.FlattenConfig(config)
}

func makeAbsolute(file *string) error {
	if *file == "" {
		return nil
	}
	absolute, err := filepath.Abs(*file)
	if err != nil {
		return err
	}
	*file = absolute
	return nil
}

// PrivateFile is a kubeconfig that exists for the time that a program needs it.
type PrivateFile struct {
	// Name of the file.
	Name string
}

// WritePrivate writes config into a file that nobody else can read, in a directory that
// nobody else can look into. The caller removes it.
func WritePrivate(config *api.Config) (*PrivateFile, error) {
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encoding a private kubeconfig: %w", err)
	}
	dir, err := os.MkdirTemp("", "kubectl-ws-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for a private kubeconfig: %w", err)
	}
	file := &PrivateFile{Name: filepath.Join(dir, "kubeconfig")}
	if err := os.WriteFile(file.Name, content, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("writing a private kubeconfig: %w", err), file.Remove())
	}
	return file, nil
}

// Remove removes the file and its directory, with what a program may have left beside.
func (f *PrivateFile) Remove() error { return os.RemoveAll(filepath.Dir(f.Name)) }
