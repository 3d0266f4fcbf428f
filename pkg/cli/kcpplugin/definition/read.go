package definition

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// stdin is the name of the file that is none.
const stdin = "-"

const definitionVersion = "apiextensions.k8s.io/v1"

// document is enough of a document to know what it is.
type document struct {
	APIVersion string                 `json:"apiVersion"`
	Kind       string                 `json:"kind"`
	Items      []runtime.RawExtension `json:"items"`
}

// Read returns the definitions in files, folders and, for "-", in in. A file has to hold
// nothing else, whereas folders may: kustomizations, patches and what else lies beside
// definitions are passed over there.
func Read(names []string, in io.Reader) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		found, err := read(name, in)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	seen := map[string]bool{}
	for _, crd := range all {
		if seen[crd.Name] {
			return nil, fmt.Errorf("CustomResourceDefinition %s is there twice", crd.Name)
		}
		seen[crd.Name] = true
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no CustomResourceDefinitions in %s", strings.Join(names, ", "))
	}
	return all, nil
}

func read(name string, in io.Reader) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if name == stdin {
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading the input: %w", err)
		}
		return Parse("the input", content, true)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(name, true)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	err = filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			return err
		}
		found, err := readFile(file, false)
		all = append(all, found...)
		return err
	})
	return all, err
}

func readFile(name string, only bool) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, content, only)
}

// Parse returns the definitions among the documents of content, which name says the
// origin of. only makes other documents an error.
func Parse(name string, content []byte, only bool) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		var found []*apiextensionsv1.CustomResourceDefinition
		if err == nil {
			found, err = parseDocument(document, only)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		all = append(all, found...)
	}
}

func parseDocument(content []byte, only bool) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if isComment(content) {
		return nil, nil
	}
	var doc document
	if err := yaml.Unmarshal(content, &doc); err != nil {
		switch typed := (*json.UnmarshalTypeError)(nil); {
		case only && errors.As(err, &typed):
			return nil, errors.New("it holds something else than objects")
		case only:
			return nil, err
		}
		// A template, most likely.
		return nil, nil
	}
	switch doc.APIVersion + " " + doc.Kind {
	case definitionVersion + " CustomResourceDefinition":
		crd := &apiextensionsv1.CustomResourceDefinition{}
		return []*apiextensionsv1.CustomResourceDefinition{crd}, yaml.Unmarshal(content, crd)
	case "v1 List", definitionVersion + " CustomResourceDefinitionList":
		var all []*apiextensionsv1.CustomResourceDefinition
		for _, item := range doc.Items {
			found, err := parseDocument(item.Raw, only)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	if only {
		return nil, fmt.Errorf("kind %q of %q is no CustomResourceDefinition of %s", doc.Kind, doc.APIVersion, definitionVersion)
	}
	return nil, nil
}

// isComment says whether there is nothing but comments in a document.
func isComment(content []byte) bool {
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
