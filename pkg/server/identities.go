package server

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// readIdentities reads the identities that exports in root get when they are made, by the
// names of the exports. Without a file there are none.
func readIdentities(file string) (map[string][]byte, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--root-identities-file: %w", err)
	}
	identities, err := parseIdentities(data)
	if err != nil {
		return nil, fmt.Errorf("--root-identities-file=%s: %w", file, err)
	}
	return identities, nil
}

func parseIdentities(data []byte) (map[string][]byte, error) {
	var content struct {
		Identities []struct {
			Export   string `json:"export"`
			Identity string `json:"identity"`
		} `json:"identities"`
	}
	if err := yaml.UnmarshalStrict(data, &content); err != nil {
		return nil, err
	}
	identities := make(map[string][]byte, len(content.Identities))
	for i, entry := range content.Identities {
		if problems := validation.IsDNS1123Subdomain(entry.Export); len(problems) > 0 {
			return nil, fmt.Errorf("identities[%d].export: %q is not the name of an export: %s", i, entry.Export, problems[0])
		}
		if entry.Identity == "" {
			return nil, fmt.Errorf("identities[%d]: export %s has no identity", i, entry.Export)
		}
		if identities[entry.Export] != nil {
			return nil, fmt.Errorf("identities[%d]: export %s is there twice", i, entry.Export)
		}
		identities[entry.Export] = []byte(entry.Identity)
	}
	if len(identities) == 0 {
		return nil, errors.New("there are no identities in it")
	}
	return identities, nil
}
