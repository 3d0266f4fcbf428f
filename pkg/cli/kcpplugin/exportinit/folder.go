package exportinit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
)

// How files are called. Others in the folder are left alone.
const (
	schemaPrefix = "apiresourceschema-"
	exportPrefix = "apiexport-"
	extension    = ".yaml"
)

// folder is the store that is a folder with a file for each resource and each export.
type folder struct {
	path string
	out  io.Writer
}

func (f *folder) load(_ context.Context, exports []string) (present, error) {
	have := present{exports: map[string]*apisv1alpha2.APIExport{}}
	for _, name := range exports {
		export := &apisv1alpha2.APIExport{}
		err := f.decode(f.exportFile(name), export)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return present{}, err
		case export.APIVersion != apisv1alpha2.GroupVersion.String() || export.Kind != "APIExport":
			return present{}, fmt.Errorf("%s holds a %s of %s, not an APIExport of %s", f.exportFile(name), export.Kind, export.APIVersion, apisv1alpha2.GroupVersion)
		}
		have.exports[name] = export
	}
	files, err := filepath.Glob(filepath.Join(f.path, schemaPrefix+"*"+extension))
	if err != nil {
		return present{}, fmt.Errorf("the folder %s: %w", f.path, err)
	}
	for _, file := range files {
		var schema apisv1alpha1.APIResourceSchema
		if err := f.decode(file, &schema); err != nil {
			return present{}, err
		}
		have.schemas = append(have.schemas, schema)
	}
	return have, nil
}

func (f *folder) decode(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

func (f *folder) putSchema(_ context.Context, s plannedSchema) error {
	file := filepath.Join(f.path, schemaPrefix+definition.Suffix(s.Spec)+extension)
	if !s.isNew {
		return f.say(file, "unchanged")
	}
	return f.write(file, s.APIResourceSchema)
}

func (f *folder) putExport(_ context.Context, e plannedExport) error {
	for _, dropped := range e.dropped {
		// Only what has just been dropped is removed: other exports may have their
		// schemas in the same folder.
		spec := apisv1alpha1.APIResourceSchemaSpec{Group: dropped.Group}
		spec.Names.Plural = dropped.Name
		file := filepath.Join(f.path, schemaPrefix+definition.Suffix(spec)+extension)
		err := os.Remove(file)
		if err == nil {
			err = f.say(file, "removed")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !e.changed() {
		return f.say(f.exportFile(e.Name), "unchanged")
	}
	return f.write(f.exportFile(e.Name), e.APIExport)
}

func (f *folder) exportFile(name string) string {
	return filepath.Join(f.path, exportPrefix+name+extension)
}

// write replaces a file as a whole, so that it is never half written.
func (f *folder) write(file string, object any) error {
	content, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	done := "updated"
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		done = "created"
	case err != nil:
		return err
	case bytes.Equal(before, content):
		return f.say(file, "unchanged")
	}
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return err
	}
	temporary := file + ".tmp"
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, file); err != nil {
		return err
	}
	return f.say(file, done)
}

func (f *folder) say(file, done string) error {
	_, err := fmt.Fprintf(f.out, "%s %s\n", file, done)
	return err
}
