package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const group = "/apis/tenancy.kcp.io/v1alpha1/workspaces"

// org is what a server has in root:org: one workspace that is ready, one that is not, one
// that goes. It serves exports in the old version alone, and shows no types.
var org = map[string]string{
	"root:org" + group: `{"items": [
		{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "fine", "uid": "1"}, "spec": {"URL": "https://x/clusters/root:org:fine"}, "status": {"phase": "Ready"}},
		{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "stuck", "uid": "2"}, "spec": {"URL": "https://x/clusters/root:org:stuck"}, "status": {"phase": "Initializing"}},
		{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "going", "uid": "3", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"URL": "https://x/clusters/root:org:going"}, "status": {"phase": "Ready"}}
	]}`,
	"root:org/apis/apis.kcp.io/v1alpha1/apiexports":              `{"items": [{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "old"}}]}`,
	"root:org/apis/tenancy.kcp.io/v1alpha1/workspacetypes":       "",
	"root:org:fine" + group:                                      `{"items": []}`,
	"root:org:stuck/apis/apis.kcp.io/v1alpha2/apibindings":       `{"items": [{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "new"}}]}`,
	"root:org:stuck/apis/apis.kcp.io/v1alpha1/apibindings":       `{"items": [{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "never asked for"}}]}`,
	"root:org:going/apis/core.kcp.io/v1alpha1/logicalclusters":   `{"items": [{"apiVersion": "v1", "kind": "Any", "metadata": {"name": "cluster"}}]}`,
	"root:org:going/apis/topology.kcp.io/v1alpha1/partitions":    "",
	"root:org:fine/apis/apis.kcp.io/v1alpha1/apiresourceschemas": `{"items": []}`,
}

// newServer answers with what is in content; what is empty there may not be read, and what
// is not there is not served.
func newServer(t *testing.T, content map[string]string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, ok := content[strings.TrimPrefix(r.URL.Path, "/clusters/")]
		code, reason := http.StatusForbidden, "Forbidden"
		switch {
		case ok && body != "":
			_, _ = fmt.Fprint(w, body)
			return
		case !ok:
			code, reason = http.StatusNotFound, "NotFound"
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "message": "no, said the server", "code": %d}`, reason, code)
	}))
	t.Cleanup(server.Close)
	return server
}

func gathered(t *testing.T) *bundle.Bundle {
	t.Helper()
	server := newServer(t, org)
	c, err := client.New(&rest.Config{}, server.URL, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	b, err := (&gatherer{client: c}).gather(t.Context(), logicalcluster.MustParsePath("root:org"), server.URL, time.Unix(0, 0), func(count int) { found = count })
	if err != nil {
		t.Fatal(err)
	}
	if found != 4 {
		t.Errorf("%d workspaces were found on the way", found)
	}
	return b
}

func TestGather(t *testing.T) {
	b := gathered(t)
	var problems []string
	for _, entry := range b.Manifest.Workspaces {
		for _, problem := range entry.Problems {
			problems = append(problems, entry.Path+": "+problem)
		}
	}
	want := []string{"root:org: workspacetypes: no, said the server", "root:org:going: partitions: no, said the server"}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("what may not be read is a problem, what is not served is none (-want +got):\n%s", diff)
	}
	exports := schema.GroupResource{Group: "apis.kcp.io", Resource: "apiexports"}
	if objects := b.Objects(logicalcluster.MustParsePath("root:org"), exports); len(objects) != 1 || objects[0].GetName() != "old" {
		t.Errorf("an older version is asked for where there is no newer one: got %v", objects)
	}
	bindings := schema.GroupResource{Group: "apis.kcp.io", Resource: "apibindings"}
	if objects := b.Objects(logicalcluster.MustParsePath("root:org:stuck"), bindings); len(objects) != 1 || objects[0].GetName() != "new" {
		t.Errorf("the newer version is enough: got %v", objects)
	}
}

func TestSuspects(t *testing.T) {
	var got []string
	for _, p := range suspects(t.Context(), gathered(t)) {
		got = append(got, p.String())
	}
	if diff := cmp.Diff([]string{"root:org", "root:org:stuck", "root:org:going"}, got); diff != "" {
		t.Errorf("the start, and what is not ready (-want +got):\n%s", diff)
	}
}

func TestDiagnoses(t *testing.T) {
	b := gathered(t)
	for _, tc := range []struct {
		reason string
		err    error
		want   int
	}{
		{"who cannot diagnose has the objects", errors.New("not reachable"), 0},
		{"each suspect is diagnosed", nil, 3},
	} {
		o := &Options{diagnose: func(_ context.Context, _ *client.Client, p, _ logicalcluster.Path) (*diagnosis.Diagnosis, error) {
			return &diagnosis.Diagnosis{Subject: p.String()}, tc.err
		}}
		if got := o.addDiagnoses(t.Context(), b, nil, logicalcluster.Path{}); got != tc.want {
			t.Errorf("%s: %d diagnoses", tc.reason, got)
		}
	}
	if d := b.Diagnosis(logicalcluster.MustParsePath("root:org:stuck")); d == nil || d.Subject != "root:org:stuck" {
		t.Errorf("the diagnosis in the bundle is %v", d)
	}
}

func TestWrite(t *testing.T) {
	b, folder := gathered(t), t.TempDir()
	var out, errOut bytes.Buffer
	o := &Options{finder: target.New(run.Streams{Out: &out, ErrOut: &errOut}), File: filepath.Join(folder, "out.tgz")}
	if err := o.write(b); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(o.File)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others may %s it", info.Mode())
	}
	file, err := os.Open(o.File)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if read, err := bundle.Read(file); err != nil || len(read.Manifest.Workspaces) != 4 {
		t.Errorf("what was written reads as %v, %v", read, err)
	}

	// What cannot be written leaves nothing behind.
	o.File = filepath.Join(folder, "missing", "out.tgz")
	if err := o.write(b); err == nil {
		t.Error("a folder that is not there is no error")
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".bundle-*")); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}

	o.File = toOutput
	if err := o.write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Read(bytes.NewReader(out.Bytes())); err != nil {
		t.Errorf("the output is no bundle: %v", err)
	}
}

func TestReport(t *testing.T) {
	b := gathered(t)
	for name, tc := range map[string]struct{ file, out string }{
		"File":   {"out.tgz", "out.tgz: 4 workspaces from root:org on, 3 of them diagnosed\n"},
		"Output": {toOutput, ""},
	} {
		var out, errOut bytes.Buffer
		o := &Options{finder: target.New(run.Streams{Out: &out, ErrOut: &errOut}), File: tc.file}
		o.report(b, 3)
		if out.String() != tc.out {
			t.Errorf("%s: the output is %q", name, out.String())
		}
		if notes := errOut.String(); !strings.Contains(notes, "2 workspaces could not be read in full") || !strings.Contains(notes, "credentials are left out") {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := (&Options{}).Validate(); err == nil {
		t.Error("a file is needed")
	}
	if err := (&Options{File: toOutput}).Validate(); err != nil {
		t.Error(err)
	}
}
