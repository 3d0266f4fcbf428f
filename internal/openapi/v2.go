package openapi

import (
	"encoding/json"
	"net/http"

	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/handler"

	"github.com/forkless/kcp/internal/schema"
)

func (o *OpenAPI) serveV2(w http.ResponseWriter, req *http.Request) {
	served, _ := o.definitions(req)
	definitions := definitionsOf(served)
	o.serve(w, req, document{
		hash:     o.hash("v2", definitions),
		offered:  []format{jsonFormat, protobufV2},
		protobuf: handler.ToProtoBinary,
		build:    func() ([]byte, error) { return o.buildV2(definitions) },
	})
}

func (o *OpenAPI) buildV2(definitions []*schema.Definition) ([]byte, error) {
	merged := emptyFragment()
	builtin, err := o.fragments.get("v2", o.builtins.v2)
	if err != nil {
		return nil, err
	}
	merged.add(builtin, false)
	for _, definition := range definitions {
		one, err := o.fragments.get("v2/"+definition.Hash, func() (fragment, error) { return definitionV2(definition) })
		if err != nil {
			klog.Background().Error(err, "A definition is missing from OpenAPI v2")
			continue
		}
		merged.add(one, definition.CRD.Spec.Group == "")
	}
	return json.Marshal(documentV2{
		Swagger:     "2.0",
		Info:        o.config.V2.Info,
		Paths:       merged.paths,
		Definitions: merged.schemas,
		Parameters:  merged.parameters,
	})
}
