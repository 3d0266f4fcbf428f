package openapi

import (
	"strings"

	"github.com/forkless/kcp/internal/schema"
)

// groupVersions returns the definitions by the group versions that serve them, which
// are spelled as in the index: "api/v1", "apis/example.com/v1".
func groupVersions(served []schema.Served) map[string][]*schema.Definition {
	groups := map[string][]*schema.Definition{}
	for _, s := range served {
		spec := &s.Definition.CRD.Spec
		prefix := "apis/" + spec.Group + "/"
		if spec.Group == "" {
			prefix = "api/"
		}
		for i := range spec.Versions {
			if spec.Versions[i].Served {
				group := prefix + spec.Versions[i].Name
				groups[group] = append(groups[group], s.Definition)
			}
		}
	}
	return groups
}

// versionOf returns the version of a group version spelled as in the index.
func versionOf(group string) string { return group[strings.LastIndexByte(group, '/')+1:] }

func definitionsOf(served []schema.Served) []*schema.Definition {
	definitions := make([]*schema.Definition, 0, len(served))
	for _, s := range served {
		definitions = append(definitions, s.Definition)
	}
	return definitions
}
