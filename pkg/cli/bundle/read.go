package bundle

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// maxBytes is how much a bundle may have inside. Some kilobytes of zeros can claim to be
// much more than any machine has memory.
const maxBytes = 1 << 30

// ErrTooLarge says that a file has more in it than a bundle may have.
var ErrTooLarge = errors.New("there is more in it than a bundle may have")

// Read reads a bundle that Write has written. Files in it that it does not know are left
// out: a newer program may have written it.
func Read(r io.Reader) (*Bundle, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, notABundle(err)
	}
	b := &Bundle{workspaces: map[string]*content{}}
	limited := &limit{reader: unzipped, left: maxBytes}
	for files := tar.NewReader(limited); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, notABundle(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := b.readFile(header.Name, files); err != nil {
			return nil, fmt.Errorf("reading %q: %w", header.Name, err)
		}
	}
	if b.Manifest.TypeMeta != output.Meta("Bundle") {
		return nil, notABundle(fmt.Errorf("there is no %s in it", manifestFile))
	}
	for _, entry := range b.Manifest.Workspaces {
		p, err := logicalcluster.ParsePath(entry.Path)
		if err != nil {
			return nil, notABundle(err)
		}
		b.at(p)
	}
	return b, nil
}

func notABundle(err error) error {
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("it is no bundle that \"kubectl kcp bundle\" has made: %w", err)
}

func (b *Bundle) readFile(name string, r io.Reader) error {
	if name == manifestFile {
		return json.NewDecoder(r).Decode(&b.Manifest)
	}
	folder, file, ok := cutLast(strings.TrimPrefix(name, workspacesDir), "/")
	if !ok || !strings.HasPrefix(name, workspacesDir) {
		return nil
	}
	p, err := logicalcluster.ParsePath(strings.ReplaceAll(folder, "/", ":"))
	if err != nil {
		return err
	}
	if file == diagnosisFile {
		d := &diagnosis.Diagnosis{}
		if err := json.NewDecoder(r).Decode(d); err != nil {
			return err
		}
		return b.AddDiagnosis(p, d)
	}
	resource, ok := strings.CutSuffix(file, objectsSuffix)
	if !ok {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON(text); err != nil {
		return err
	}
	b.Add(p, schema.ParseGroupResource(resource), list.Items)
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// limit is a reader that fails behind so many bytes.
type limit struct {
	reader io.Reader
	left   int64
}

func (l *limit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.reader.Read(p)
	l.left -= int64(n)
	return n, err
}
