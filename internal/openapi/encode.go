package openapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
)

// format is an encoding a document is offered in.
type format struct {
	name        string
	subTypes    []string
	contentType string
}

// The subtypes with "@" are what older clients ask for. They are not valid media types,
// so the answer names the others.
var (
	jsonFormat = format{"json", []string{"json"}, "application/json"}

	protobufV2 = format{
		"protobuf",
		[]string{"com.github.proto-openapi.spec.v2.v1.0+protobuf", "com.github.proto-openapi.spec.v2@v1.0+protobuf"},
		"application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
	}
	protobufV3 = format{
		"protobuf",
		[]string{"com.github.proto-openapi.spec.v3.v1.0+protobuf", "com.github.proto-openapi.spec.v3@v1.0+protobuf"},
		"application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
	}
)

// negotiate returns the format a client likes best.
func negotiate(req *http.Request, offered ...format) (format, bool) {
	accept := req.Header.Get("Accept")
	if accept == "" {
		accept = "*/*"
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if clause.Type != "application" && clause.Type != "*" {
			continue
		}
		for _, f := range offered {
			if clause.SubType == "*" {
				return f, true
			}
			for _, subType := range f.subTypes {
				if clause.SubType == subType {
					return f, true
				}
			}
		}
	}
	return format{}, false
}

// compressed is an encoded document. It is kept and mostly also sent in this form: it
// has a tenth of the size.
type compressed []byte

func compress(content []byte) (compressed, error) {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write(content); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return bytes.Clone(buffer.Bytes()), nil
}

func (c compressed) decompress() ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(c))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return content, nil
}

// setValidators sets the headers by which clients and proxies compare and cache.
func setValidators(header http.Header, etag string) {
	header.Add("Vary", "Accept")
	header.Add("Vary", "Accept-Encoding")
	header.Set("ETag", strconv.Quote(etag))
}

// notModified says whether the client has the content that etag stands for.
func notModified(req *http.Request, etag string) bool {
	for candidate := range strings.SplitSeq(req.Header.Get("If-None-Match"), ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" || candidate == strconv.Quote(etag) {
			return true
		}
	}
	return false
}

// write sends a document, compressed if the client takes it. An error means that nothing
// has been sent; a client that goes away is none.
func write(w http.ResponseWriter, req *http.Request, contentType string, document compressed) error {
	content := []byte(document)
	if !acceptsGzip(req) {
		var err error
		if content, err = document.decompress(); err != nil {
			return err
		}
	} else {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content)
	return nil
}

func acceptsGzip(req *http.Request) bool {
	for clause := range strings.SplitSeq(req.Header.Get("Accept-Encoding"), ",") {
		coding, parameters, _ := strings.Cut(strings.TrimSpace(clause), ";")
		if coding = strings.TrimSpace(coding); coding != "gzip" && coding != "*" {
			continue
		}
		quality, found := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		if value, err := strconv.ParseFloat(quality, 64); found && err == nil && value == 0 {
			continue
		}
		return true
	}
	return false
}
