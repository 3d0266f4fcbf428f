// Command crdnames is a step of `make generate`: it copies generated
// CustomResourceDefinitions from one directory to another, adds what no marker can
// say, the rules for metadata.name, and takes out the note of which generator wrote
// them, which clients would see. Definitions of the target directory that were not
// generated are removed; files that would not change are left alone.
//
// Beside the YAML, which people read and apply, it writes all definitions into one file
// of compact JSON, which the server embeds: reading that takes a quarter of the time at
// each start.
//
// The rules stand in the schema, not in admission, so that clients can read them and
// an invalid name is answered like any other invalid field.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

const (
	header        = "# Written by `make generate` from pkg/apis. Do not edit.\n"
	generatorNote = "controller-gen.kubebuilder.io/version"
	embedded      = "zz_generated.definitions.json"
	// workspaceName is a segment of a workspace path.
	workspaceName = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
)

// nameRules are the schemas of metadata.name, by the name of the definition.
var nameRules = map[string]map[string]any{
	"workspaces.tenancy.kcp.io": {
		"type":      "string",
		"minLength": 1,
		"maxLength": 63,
		"pattern":   workspaceName,
	},
	"workspacetypes.tenancy.kcp.io": {
		"type":      "string",
		"minLength": 1,
		"maxLength": 63,
		"pattern":   workspaceName,
		// The left part of an initializer's name may be "system", and "any" reads as
		// if it matched every type.
		"not": map[string]any{"enum": []any{"any", "system"}},
	},
	"logicalclusters.core.kcp.io": {
		"type": "string",
		"enum": []any{"cluster"},
	},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdnames <generated> <target>")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(generated, target string) error {
	files, err := filepath.Glob(filepath.Join(generated, "*.yaml"))
	if err != nil {
		return err
	}
	names, wanted := map[string]bool{}, map[string]bool{}
	var definitions []map[string]any
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, definition, err := finish(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		definitions = append(definitions, definition)
		out, err := yaml.Marshal(definition)
		if err != nil {
			return err
		}
		names[name], wanted[filepath.Base(file)] = true, true
		if err := writeIfChanged(filepath.Join(target, filepath.Base(file)), append([]byte(header), out...)); err != nil {
			return err
		}
	}
	for name := range nameRules {
		if !names[name] {
			return fmt.Errorf("no file defines %s, which there is a rule for", name)
		}
	}
	out, err := json.Marshal(definitions)
	if err != nil {
		return err
	}
	if err := writeIfChanged(filepath.Join(target, embedded), append(out, '\n')); err != nil {
		return err
	}
	return removeOthers(target, wanted)
}

func writeIfChanged(file string, data []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return os.WriteFile(file, data, 0o644)
}

// removeOthers removes the definitions in dir whose files are not wanted.
func removeOthers(dir string, wanted map[string]bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if wanted[filepath.Base(file)] {
			continue
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// finish returns the definition in data as it is to become, and its name.
func finish(data []byte) (name string, definition map[string]any, err error) {
	if err := yaml.Unmarshal(data, &definition); err != nil {
		return "", nil, err
	}
	metadata, err := object(definition, "metadata")
	if err != nil {
		return "", nil, err
	}
	name, _ = metadata["name"].(string)
	dropGeneratorNote(metadata)
	if rule, ok := nameRules[name]; ok {
		if err := addNameRule(definition, rule); err != nil {
			return "", nil, err
		}
	}
	return name, definition, nil
}

func dropGeneratorNote(metadata map[string]any) {
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		return
	}
	delete(annotations, generatorNote)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}

// addNameRule puts rule into the schema of each version.
func addNameRule(definition, rule map[string]any) error {
	spec, err := object(definition, "spec")
	if err != nil {
		return err
	}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("spec.versions holds a %T", v)
		}
		metadata, err := object(version, "schema", "openAPIV3Schema", "properties", "metadata")
		if err != nil {
			return err
		}
		metadata["properties"] = map[string]any{"name": rule}
	}
	return nil
}

// object returns the object that path leads to.
func object(from map[string]any, path ...string) (map[string]any, error) {
	for _, key := range path {
		next, ok := from[key].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is missing", key)
		}
		from = next
	}
	return from, nil
}
