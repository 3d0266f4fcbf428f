package kubeconfig

import (
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
)

// readExtension decodes the extension called name into value, and says whether there is
// one that can be read.
func readExtension(extensions map[string]runtime.Object, name string, value any) bool {
	unknown, ok := extensions[name].(*runtime.Unknown)
	return ok && json.Unmarshal(unknown.Raw, value) == nil
}

// writeExtension returns extensions with value as the one called name.
func writeExtension(extensions map[string]runtime.Object, name string, value any) map[string]runtime.Object {
	raw, err := json.Marshal(value)
	if err != nil {
		// What we write are structs of strings and numbers.
		panic(err)
	}
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[string]runtime.Object{}
	}
	extensions[name] = &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}
	return extensions
}
