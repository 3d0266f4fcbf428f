package openapi

import (
	"fmt"
	"net/http"

	"k8s.io/klog/v2"
)

// document is something to answer with.
type document struct {
	// hash identifies the content.
	hash string
	// offered are the formats there are, the preferred one first.
	offered []format
	// protobuf makes protobuf of JSON; nil if it is not offered.
	protobuf func([]byte) ([]byte, error)
	// build returns the JSON.
	build func() ([]byte, error)
}

// serve answers with a document in the format the client wants.
func (o *OpenAPI) serve(w http.ResponseWriter, req *http.Request, d document) {
	format, ok := negotiate(req, d.offered...)
	if !ok {
		http.Error(w, "406 not acceptable", http.StatusNotAcceptable)
		return
	}
	setValidators(w.Header(), d.hash)
	if notModified(req, d.hash) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content, err := o.encoded(d, format)
	if err == nil {
		err = write(w, req, format.contentType, content)
	}
	if err != nil {
		klog.FromContext(req.Context()).Error(err, "Serving OpenAPI", "path", req.URL.Path)
		for _, header := range []string{"ETag", "Cache-Control", "Expires"} {
			w.Header().Del(header)
		}
		http.Error(w, "the OpenAPI document could not be built", http.StatusServiceUnavailable)
	}
}

// encoded returns the document in a format. Protobuf is made of the JSON, as upstream
// does it.
func (o *OpenAPI) encoded(d document, f format) (compressed, error) {
	return o.documents.get(f.name+"/"+d.hash, func() (compressed, error) {
		content, err := d.build()
		if err != nil {
			return nil, err
		}
		if f.name == protobufV2.name {
			if content, err = d.protobuf(content); err != nil {
				return nil, fmt.Errorf("encoding protobuf: %w", err)
			}
		}
		return compress(content)
	})
}
