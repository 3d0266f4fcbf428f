package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifest is an object that is to be applied, and where it comes from.
type Manifest struct {
	// Source is the file, or whatever the caller calls it.
	Source string
	// Document counts the documents of Source from 1.
	Document int
	// Object is what to apply. The items of a list are Manifests of their own.
	Object *unstructured.Unstructured
}

// String says which object it is and where it comes from.
func (m Manifest) String() string {
	return fmt.Sprintf("%s: %s %s", m.place(), m.Object.GetKind(), m.Object.GetName())
}

func (m Manifest) place() string {
	return fmt.Sprintf("%s: document %d", m.Source, m.Document)
}

// bufferSize is how much of a stream is looked at to tell JSON from YAML.
const bufferSize = 4096

// Parse returns the objects in data, YAML documents or a stream of JSON, in order.
// source is what errors call it. Documents without content are none.
func Parse(source string, data []byte) ([]Manifest, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), bufferSize)
	var manifests []Manifest
	for document := 1; ; document++ {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return manifests, nil
		}
		at := Manifest{Source: source, Document: document}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at.place(), err)
		}
		if len(raw.Raw) == 0 || bytes.Equal(raw.Raw, []byte("null")) {
			continue
		}
		objects, err := objectsIn(raw.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at.place(), err)
		}
		for _, object := range objects {
			at.Object = object
			manifests = append(manifests, at)
		}
	}
}

// objectsIn returns the object in a document, or the items of the list that it is.
func objectsIn(document []byte) ([]*unstructured.Unstructured, error) {
	var content map[string]any
	// Numbers become what the API machinery expects.
	if err := json.Unmarshal(document, &content); err != nil {
		return nil, errors.New("this is no object: it has no fields")
	}
	object := &unstructured.Unstructured{Object: content}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, check(object)
	}
	var items []*unstructured.Unstructured
	err := object.EachListItem(func(item runtime.Object) error {
		u, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("an item of the list is a %T", item)
		}
		items = append(items, u)
		return check(u)
	})
	return items, err
}

// check says what every object needs and this one lacks.
func check(object *unstructured.Unstructured) error {
	switch {
	case object.GetAPIVersion() == "":
		return errors.New("apiVersion is missing")
	case object.GetKind() == "":
		return errors.New("kind is missing")
	case object.GetName() == "" && object.GetGenerateName() != "":
		return fmt.Errorf("this %s has no name but metadata.generateName, which cannot be applied", object.GetKind())
	case object.GetName() == "":
		return fmt.Errorf("this %s has no metadata.name", object.GetKind())
	}
	return nil
}

// extensions are those of files that hold manifests.
var extensions = []string{".yaml", ".yml", ".json"}

func isManifest(name string) bool { return slices.Contains(extensions, path.Ext(name)) }

// errNoFiles is what is wrong with a directory that holds no manifests.
var errNoFiles = errors.New("no file in it ends in " + strings.Join(extensions, ", "))

// Read returns the objects in a file, or in the files of a directory that end in .yaml,
// .yml or .json, by their names. It does not look into directories in it.
func Read(name string) ([]Manifest, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(name)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !isManifest(entry.Name()) {
			continue
		}
		found = true
		more, err := readFile(filepath.Join(name, entry.Name()))
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, more...)
	}
	if !found {
		return nil, fmt.Errorf("%s: %w", name, errNoFiles)
	}
	return manifests, nil
}

func readFile(name string) ([]Manifest, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, data)
}

// ReadFS returns the objects in all files of fsys that end in .yaml, .yml or .json, in
// all its directories, by their paths.
func ReadFS(fsys fs.FS) ([]Manifest, error) {
	var manifests []Manifest
	found := false
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isManifest(name) {
			return err
		}
		found = true
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		more, err := Parse(name, data)
		manifests = append(manifests, more...)
		return err
	})
	if err == nil && !found {
		err = errNoFiles
	}
	return manifests, err
}
