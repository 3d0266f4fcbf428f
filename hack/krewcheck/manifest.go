package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// manifest is what krew reads of a plugin.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	URI      string `json:"uri"`
	SHA256   string `json:"sha256"`
	Bin      string `json:"bin"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
}

// system returns what the platform is, such as linux/amd64.
func (p platform) system() string {
	return p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
}

// The rules of krew about names and versions.
var (
	validName    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	validVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

// allSystems are the platforms that plugins are for.
var allSystems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// verify returns what is wrong with the manifest in file, of a release for some systems that
// is described by a template. read returns an archive by name.
func verify(file string, content []byte, template string, systems []string, read func(archive string) ([]byte, error)) []error {
	var m manifest
	if err := yaml.Unmarshal(content, &m); err != nil {
		return []error{err}
	}
	var problems []error
	claim := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	claim(m.APIVersion == "krew.googlecontainertools.github.com/v1alpha2" && m.Kind == "Plugin", "it is a %s %s", m.APIVersion, m.Kind)
	claim(validName.MatchString(m.Metadata.Name) && file == m.Metadata.Name+".yaml", "the plugin is called %q", m.Metadata.Name)
	claim(validVersion.MatchString(m.Spec.Version), "the version is %q", m.Spec.Version)
	claim(m.Spec.ShortDescription != "" && !strings.HasSuffix(m.Spec.ShortDescription, "."), "the description is %q", m.Spec.ShortDescription)

	found := map[string]bool{}
	for _, p := range m.Spec.Platforms {
		system := p.system()
		claim(!found[system], "%s is there twice", system)
		found[system] = true
		if err := p.verify(m.Metadata.Name, read); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", system, err))
		}
	}
	for _, system := range systems {
		claim(found[system], "%s is missing", system)
	}
	if len(problems) > 0 {
		return problems
	}
	described, err := fill(template, &m, systems, read)
	if err != nil {
		return []error{fmt.Errorf("filling in the template: %w", err)}
	}
	claim(reflect.DeepEqual(sorted(described), sorted(&m)), "it is not what its template says:\n%+v\n%+v", m, *described)
	return problems
}

// sorted returns m with its platforms in order, and its texts without the space around them.
// Of addresses only the archive is left: a snapshot has a version, but no tag of its own.
func sorted(m *manifest) *manifest {
	for i := range m.Spec.Platforms {
		m.Spec.Platforms[i].URI = path.Base(m.Spec.Platforms[i].URI)
	}
	slices.SortFunc(m.Spec.Platforms, func(a, b platform) int { return strings.Compare(a.system(), b.system()) })
	m.Spec.Description, m.Spec.Caveats = strings.TrimSpace(m.Spec.Description), strings.TrimSpace(m.Spec.Caveats)
	return m
}

// verify compares a platform with its archive.
func (p platform) verify(plugin string, read func(archive string) ([]byte, error)) error {
	want := "bin/kubectl-" + plugin
	if p.Selector.MatchLabels["os"] == "windows" {
		want += ".exe"
	}
	if p.Bin != want {
		return fmt.Errorf("the program is %q, not %q", p.Bin, want)
	}
	archive, err := read(path.Base(p.URI))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != p.SHA256 {
		return errors.New("the checksum is that of another archive")
	}
	return holds(archive, want, "LICENSE", "README.md")
}

// holds says which of files an archive lacks.
func holds(archive []byte, files ...string) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for contents := tar.NewReader(unzipped); ; {
		header, err := contents.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		there[path.Clean(header.Name)] = true
	}
	for _, file := range files {
		if !there[file] {
			return fmt.Errorf("the archive has no %s", file)
		}
	}
	return nil
}
