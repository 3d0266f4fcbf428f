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
	"regexp"
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
		ShortDescription string     `json:"shortDescription"`
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

// The rules of krew about names and versions.
var (
	validName    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	validVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

// wanted are the platforms that plugins are for.
var wanted = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// verify returns what is wrong with the manifest in file. read returns an archive by name.
func verify(file string, content []byte, read func(archive string) ([]byte, error)) []error {
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
		system := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
		claim(!found[system], "%s is there twice", system)
		found[system] = true
		if err := p.verify(m.Metadata.Name, read); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", system, err))
		}
	}
	for _, system := range wanted {
		claim(found[system], "%s is missing", system)
	}
	return problems
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
