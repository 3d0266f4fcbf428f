package hookcontent

import (
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// outcome notes how a request was answered.
type outcome struct {
	http.ResponseWriter
	code int
}

var _ responsewriter.UserProvidedDecorator = (*outcome)(nil)

// withOutcome returns a writer that can what w can, and what it notes.
func withOutcome(w http.ResponseWriter) (http.ResponseWriter, *outcome) {
	noting := &outcome{ResponseWriter: w}
	return responsewriter.WrapForHTTP1Or2(noting), noting
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (o *outcome) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (o *outcome) WriteHeader(code int) {
	if o.code == 0 {
		o.code = code
	}
	o.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (o *outcome) Write(data []byte) (int, error) {
	if o.code == 0 {
		o.code = http.StatusOK
	}
	return o.ResponseWriter.Write(data)
}

// succeeded says whether the request was answered well.
func (o *outcome) succeeded() bool { return o.code >= 200 && o.code < 300 }
