// Package workspacetypes holds the WorkspaceTypes that every installation has in its
// root workspace.
//
// Those in the directory always are there whatever is chosen. Each other directory is
// there for one choice: a battery that it is named for, or homes in buckets. A type in it
// takes the place of the one of the same name in always. The package reads what is
// embedded in it and knows nothing of how objects get into a workspace.
package workspacetypes

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Battery is the battery that adds the types organization and team.
const Battery = "workspace-types"

const (
	// always is the directory of the types that are there whatever is chosen.
	always = "always"
	// homeBuckets is the directory of the types for homes in buckets.
	homeBuckets = "home-buckets"
)

//go:embed */*.yaml
var files embed.FS

// Choice is what the types of an installation depend on.
type Choice struct {
	// Batteries are the names of its batteries. Those that have nothing to do with types
	// are ignored.
	Batteries sets.Set[string]
	// BucketedHomes gives the homes of users a place in the tree, below buckets, rather
	// than outside of it.
	BucketedHomes bool
}

// directories returns the directories to read, each taking the place of what those before
// it have.
func (c Choice) directories() []string {
	chosen := []string{always}
	if c.Batteries.Has(Battery) {
		chosen = append(chosen, Battery)
	}
	if c.BucketedHomes {
		chosen = append(chosen, homeBuckets)
	}
	return chosen
}

// For returns the types that an installation has, sorted by name. They carry what the API
// server would have added to them in root: the path annotation. They are read anew at each
// call, so the caller owns them.
func For(choice Choice) ([]*tenancyv1alpha1.WorkspaceType, error) {
	types := map[string]*tenancyv1alpha1.WorkspaceType{}
	for _, directory := range choice.directories() {
		if err := addDirectory(types, directory); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(types), func(a, b *tenancyv1alpha1.WorkspaceType) int {
		return strings.Compare(a.Name, b.Name)
	}), nil
}

func addDirectory(types map[string]*tenancyv1alpha1.WorkspaceType, directory string) error {
	names, err := fs.Glob(files, path.Join(directory, "*.yaml"))
	if err != nil {
		return err
	}
	for _, name := range names {
		workspaceType, err := read(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		types[workspaceType.Name] = workspaceType
	}
	return nil
}

func read(name string) (*tenancyv1alpha1.WorkspaceType, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	workspaceType := &tenancyv1alpha1.WorkspaceType{}
	if err := yaml.UnmarshalStrict(data, workspaceType); err != nil {
		return nil, err
	}
	if workspaceType.Annotations == nil {
		workspaceType.Annotations = map[string]string{}
	}
	workspaceType.Annotations[logicalcluster.PathAnnotationKey] = logicalcluster.Root.String()
	return workspaceType, nil
}
