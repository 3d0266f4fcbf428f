// Package workspacetypes holds the WorkspaceTypes that every installation has in its
// root workspace.
//
// Those in the directory always are there whatever the batteries; each other directory
// is named for the battery it belongs to, and a type in it takes the place of the one
// of the same name in always. The package reads what is embedded in it and knows
// nothing of how objects get into a workspace.
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

// always is the directory of the types that need no battery.
const always = "always"

//go:embed */*.yaml
var files embed.FS

// ForBatteries returns the types that an installation with the given batteries has,
// sorted by name. Batteries that have nothing to do with types are ignored. The types
// carry what the API server would have added to them in root: the path annotation.
// They are read anew at each call, so the caller owns them.
func ForBatteries(batteries sets.Set[string]) ([]*tenancyv1alpha1.WorkspaceType, error) {
	directories, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	// What is always there is read first, whatever the directories are called, so that
	// batteries can replace it.
	types := map[string]*tenancyv1alpha1.WorkspaceType{}
	if err := addDirectory(types, always); err != nil {
		return nil, err
	}
	for _, directory := range directories {
		if !batteries.Has(directory.Name()) || directory.Name() == always {
			continue
		}
		if err := addDirectory(types, directory.Name()); err != nil {
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
