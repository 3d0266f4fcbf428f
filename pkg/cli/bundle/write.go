package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	manifestFile  = "bundle.json"
	workspacesDir = "workspaces/"
	diagnosisFile = "diagnosis.json"
	objectsSuffix = ".json"
)

// Write writes the bundle as a file.
func (b *Bundle) Write(w io.Writer) error {
	zipped := gzip.NewWriter(w)
	files := tar.NewWriter(zipped)
	if err := b.writeFile(files, manifestFile, b.Manifest); err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(b.workspaces)) {
		if err := b.writeWorkspace(files, workspacesDir+strings.ReplaceAll(p, ":", "/")+"/", b.workspaces[p]); err != nil {
			return fmt.Errorf("workspace %s: %w", p, err)
		}
	}
	if err := files.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func (b *Bundle) writeWorkspace(files *tar.Writer, folder string, c *content) error {
	for _, resource := range c.resources() {
		list := &unstructured.UnstructuredList{Items: c.objects[resource]}
		list.SetAPIVersion("v1")
		list.SetKind("List")
		if err := b.writeFile(files, folder+resource.String()+objectsSuffix, list.UnstructuredContent()); err != nil {
			return err
		}
	}
	if c.diagnosis == nil {
		return nil
	}
	return b.writeFile(files, folder+diagnosisFile, c.diagnosis)
}

func (b *Bundle) writeFile(files *tar.Writer, name string, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(text.Len()), ModTime: b.Manifest.Taken.Time, Format: tar.FormatPAX}
	if err := files.WriteHeader(header); err != nil {
		return err
	}
	_, err := files.Write(text.Bytes())
	return err
}
