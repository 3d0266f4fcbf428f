package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// releases is what goreleaser.yaml says about plugins.
type releases struct {
	Builds   []build   `json:"builds"`
	Archives []archive `json:"archives"`
	Krews    []plugin  `json:"krews"`
}

type build struct {
	ID     string   `json:"id"`
	Binary string   `json:"binary"`
	Goos   []string `json:"goos"`
	Goarch []string `json:"goarch"`
}

type archive struct {
	ID           string   `json:"id"`
	IDs          []string `json:"ids"`
	NameTemplate string   `json:"name_template"`
	Formats      []string `json:"formats"`
}

type plugin struct {
	Name             string   `json:"name"`
	IDs              []string `json:"ids"`
	URLTemplate      string   `json:"url_template"`
	Homepage         string   `json:"homepage"`
	ShortDescription string   `json:"short_description"`
	Description      string   `json:"description"`
	Caveats          string   `json:"caveats"`
}

// templateSuffix keeps krew, which reads each YAML file of an index, from taking a template
// for a manifest.
const templateSuffix = ".yaml.tmpl"

// templates returns the manifests of the plugins that goreleaser.yaml describes, by the names
// of their files, with the version and the checksums left open: {{.Version}}, without a v,
// and {{.SHA256 "linux" "amd64"}}.
func templates(goreleaser []byte) (map[string]string, error) {
	var r releases
	if err := yaml.Unmarshal(goreleaser, &r); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, p := range r.Krews {
		text, err := r.template(p)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", p.Name, err)
		}
		all[p.Name+templateSuffix] = text
	}
	if len(all) == 0 {
		return nil, errors.New("there are no plugins for krew")
	}
	return all, nil
}

// template returns the manifest of a plugin, which is in one archive of one program.
func (r *releases) template(p plugin) (string, error) {
	b := slices.IndexFunc(r.Builds, func(b build) bool { return slices.Equal(p.IDs, []string{b.ID}) })
	a := slices.IndexFunc(r.Archives, func(a archive) bool { return slices.Equal(p.IDs, []string{a.ID}) && slices.Equal(a.IDs, p.IDs) })
	if b < 0 || a < 0 || len(r.Archives[a].Formats) != 1 {
		return "", errors.New("it is not one archive with one program")
	}
	var text strings.Builder
	text.WriteString("# Written by `make generate` from goreleaser.yaml. A release fills in its version and checksums.\n" +
		"apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n" +
		"  name: " + p.Name + "\nspec:\n  version: v{{.Version}}\n  platforms:\n")
	for _, goos := range r.Builds[b].Goos {
		for _, goarch := range r.Builds[b].Goarch {
			text.WriteString(r.platform(p, r.Builds[b], r.Archives[a], goos, goarch))
		}
	}
	fmt.Fprintf(&text, "  shortDescription: %s\n  homepage: %s\n", p.ShortDescription, p.Homepage)
	text.WriteString("  description: |\n" + indented(p.Description) + "  caveats: |\n" + indented(p.Caveats))
	return text.String(), nil
}

func (r *releases) platform(p plugin, b build, a archive, goos, goarch string) string {
	program := b.Binary
	if goos == "windows" {
		program += ".exe"
	}
	name := strings.NewReplacer("{{ .Version }}", "{{.Version}}", "{{ .Os }}", goos, "{{ .Arch }}", goarch).Replace(a.NameTemplate)
	uri := strings.NewReplacer("{{ .Tag }}", "v{{.Version}}", "{{ .ArtifactName }}", name+"."+a.Formats[0]).Replace(p.URLTemplate)
	return fmt.Sprintf("  - bin: %s\n    selector:\n      matchLabels:\n        os: %s\n        arch: %s\n    uri: %s\n    sha256: {{.SHA256 %q %q}}\n",
		program, goos, goarch, uri, goos, goarch)
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

// filled are the values of a template.
type filled struct {
	Version string
	sums    map[string]string
}

// SHA256 returns the checksum of the archive for a system.
func (f filled) SHA256(goos, goarch string) string { return f.sums[goos+"/"+goarch] }

// fill returns the manifest that a template comes to in a release that has made m, for the
// systems that the release is for.
func fill(text string, m *manifest, systems []string, read func(archive string) ([]byte, error)) (*manifest, error) {
	values := filled{Version: strings.TrimPrefix(m.Spec.Version, "v"), sums: map[string]string{}}
	for _, p := range m.Spec.Platforms {
		content, err := read(path.Base(p.URI))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		values.sums[p.system()] = hex.EncodeToString(sum[:])
	}
	t, err := template.New("manifest").Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return nil, err
	}
	var whole manifest
	if err := yaml.UnmarshalStrict(b.Bytes(), &whole); err != nil {
		return nil, err
	}
	whole.Spec.Platforms = slices.DeleteFunc(whole.Spec.Platforms, func(p platform) bool { return !slices.Contains(systems, p.system()) })
	return &whole, nil
}
