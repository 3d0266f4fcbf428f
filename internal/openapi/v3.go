package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/handler3"

	"github.com/forkless/kcp/internal/schema"
)

// serveIndex answers with the URLs of the documents of all group versions.
func (o *OpenAPI) serveIndex(w http.ResponseWriter, req *http.Request, content *content) {
	if content == nil {
		http.NotFound(w, req)
		return
	}
	byGroup := groupVersions(content.definitions)
	for root := range o.builtins.services() {
		if _, exists := byGroup[root]; !exists && content.hasRoot(root) {
			byGroup[root] = nil
		}
	}

	index := handler3.OpenAPIV3Discovery{Paths: make(map[string]handler3.OpenAPIV3DiscoveryGroupVersion, len(byGroup))}
	for group, definitions := range byGroup {
		// Clients put the prefix of the cluster before URLs that start like this.
		index.Paths[group] = handler3.OpenAPIV3DiscoveryGroupVersion{
			ServerRelativeURL: "/openapi/v3/" + group + "?" + hashQuery(o.hash(content.name+"/"+group, definitions)),
		}
	}
	o.serve(w, req, document{
		hash:    o.hash(content.name, definitionsOf(content.definitions)),
		offered: []format{jsonFormat},
		build:   func() ([]byte, error) { return json.Marshal(index) },
	})
}

// serveV3 answers with the document of a group version, such as "apis/example.com/v1".
func (o *OpenAPI) serveV3(w http.ResponseWriter, req *http.Request, group string, content *content) {
	if content == nil {
		http.NotFound(w, req)
		return
	}
	definitions := groupVersions(content.definitions)[group]
	if len(definitions) == 0 && (len(o.builtins.services()[group]) == 0 || !content.hasRoot(group)) {
		http.NotFound(w, req)
		return
	}

	hash := o.hash(content.name+"/"+group, definitions)
	if asked := req.URL.Query().Get("hash"); asked != "" {
		if asked != hash {
			// The reference is relative to what the client asked for, which has a
			// prefix that the path here has lost.
			w.Header().Set("Location", "?"+hashQuery(hash))
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	o.serve(w, req, document{
		hash:     hash,
		offered:  []format{jsonFormat, protobufV3},
		protobuf: handler3.ToV3ProtoBinary,
		build:    func() ([]byte, error) { return o.buildV3(group, definitions, content) },
	})
}

func (o *OpenAPI) buildV3(group string, definitions []*schema.Definition, content *content) ([]byte, error) {
	merged := emptyFragment()
	builtin, err := o.builtins.v3(group)
	if err != nil {
		return nil, err
	}
	merged.add(content.part(group, builtin), false)
	for _, definition := range definitions {
		version := versionOf(group)
		one, err := o.fragments.get("v3/"+version+"/"+definition.Hash, func() (fragment, error) { return definitionV3(definition, version) })
		if err != nil {
			klog.Background().Error(err, "A definition is missing from OpenAPI v3")
			continue
		}
		merged.add(one, definition.CRD.Spec.Group == "")
	}
	return json.Marshal(documentV3{
		OpenAPI:    "3.0.0",
		Info:       o.config.V3.Info,
		Paths:      merged.paths,
		Components: componentsV3{Schemas: merged.schemas},
	})
}

func hashQuery(hash string) string { return url.Values{"hash": {hash}}.Encode() }
