package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	taken      = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	workspaces = schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}
	clusters   = schema.GroupResource{Group: "core.kcp.io", Resource: "logicalclusters"}
)

func object(kind, name string, fields map[string]any) unstructured.Unstructured {
	u := unstructured.Unstructured{Object: map[string]any{"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": kind, "metadata": map[string]any{"name": name}}}
	for field, value := range fields {
		u.Object[field] = value
	}
	return u
}

// example is a bundle of two workspaces.
func example(t *testing.T) *Bundle {
	t.Helper()
	org := logicalcluster.MustParsePath("root:org")
	team := org.Join("team")
	b := New(org, "https://me:hidden@host:6443", taken)
	b.AddWorkspace(org, "shards: forbidden")
	b.Add(org, workspaces, []unstructured.Unstructured{object("Workspace", "team", map[string]any{
		"spec":   map[string]any{"URL": "https://host:6443/clusters/root:org:team", "cluster": "abc"},
		"status": map[string]any{"phase": "Initializing"},
	})})
	b.AddWorkspace(team)
	b.Add(team, clusters, []unstructured.Unstructured{object("LogicalCluster", "cluster", map[string]any{"status": map[string]any{"phase": "Initializing"}})})
	d := diagnosis.New(diagnosis.Workspace, team.String(), taken)
	d.Block("nobody initializes it", "kubectl ws why")
	if err := b.AddDiagnosis(team, d); err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, b *Bundle) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestWriteAndRead(t *testing.T) {
	first, second := write(t, example(t)), write(t, example(t))
	if !bytes.Equal(first, second) {
		t.Error("the same content gives two files")
	}
	b, err := Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(t).Manifest, b.Manifest); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
	if !bytes.Equal(first, write(t, b)) {
		t.Error("what was read is not what was written")
	}
	if b.Manifest.Server != "https://REDACTED@host:6443" {
		t.Errorf("the server is %s", b.Manifest.Server)
	}
	team := logicalcluster.MustParsePath("root:org:team")
	if d := b.Diagnosis(team); d == nil || len(d.Blockers) != 1 || d.Blockers[0].Next[0] != "kubectl ws why" {
		t.Errorf("the diagnosis is %+v", d)
	}
}

// TestWalk goes through a bundle as through a server.
func TestWalk(t *testing.T) {
	b, err := Read(bytes.NewReader(write(t, example(t))))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := walk.Walk(t.Context(), b, logicalcluster.MustParsePath("root:org"), walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, n := range tree.All() {
		paths = append(paths, n.Path.String()+" "+n.Phase())
	}
	if diff := cmp.Diff([]string{"root:org ", "root:org:team Initializing"}, paths); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
	lc, err := b.LogicalCluster(t.Context(), logicalcluster.MustParsePath("root:org:team"))
	if err != nil || lc.Status.Phase != "Initializing" {
		t.Errorf("the logical cluster is %+v, %v", lc, err)
	}
	if _, err := b.Workspaces(t.Context(), logicalcluster.MustParsePath("root:other")); !apierrors.IsNotFound(err) {
		t.Errorf("a workspace that is not in it: %v", err)
	}
	if _, err := b.Workspace(t.Context(), logicalcluster.MustParsePath("root:org"), "other"); !apierrors.IsNotFound(err) {
		t.Errorf("a Workspace that is not in it: %v", err)
	}
}

func TestRedact(t *testing.T) {
	cases := map[string]struct {
		reason      string
		field       string
		value, want any
	}{
		"Token":     {reason: "a token is secret", field: "bearerToken", value: "abc", want: redacted},
		"Nested":    {reason: "wherever it is", field: "spec", value: map[string]any{"list": []any{map[string]any{"clientSecret": "abc"}}}, want: map[string]any{"list": []any{map[string]any{"clientSecret": redacted}}}},
		"Reference": {reason: "where a secret is, is none", field: "secretRef", value: map[string]any{"name": "identity"}, want: map[string]any{"name": "identity"}},
		"Address":   {reason: "a password in an address", field: "url", value: "see https://me:abc@host/x for more", want: "see https://REDACTED@host/x for more"},
		"Header":    {reason: "a header that somebody has pasted", field: "description", value: "curl -H 'Authorization: Bearer abcdefghij'", want: "curl -H 'Authorization: Bearer REDACTED'"},
		"Owner":     {reason: "of people only names and groups are known", field: "owner", value: map[string]any{"username": "me", "uid": "1", "extra": map[string]any{"mail": "me@x"}}, want: map[string]any{"username": "me"}},
		"Plain":     {reason: "the rest stays", field: "phase", value: "Ready", want: "Ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := object("X", "x", map[string]any{tc.field: tc.value})
			clean := Redact(&u)
			if diff := cmp.Diff(tc.want, clean.Object[tc.field]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRedactMetadata(t *testing.T) {
	u := object("X", "x", nil)
	u.SetAnnotations(map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"token":"abc"}`,
		"example.com/owner": `{"username":"me","uid":"1","extra":{"a":["b"]}}`,
		"kcp.io/path":       "root:org",
	})
	if err := unstructured.SetNestedSlice(u.Object, []any{map[string]any{"manager": "x"}}, "metadata", "managedFields"); err != nil {
		t.Fatal(err)
	}
	clean := Redact(&u)
	want := map[string]string{"example.com/owner": `{"username":"me"}`, "kcp.io/path": "root:org"}
	if diff := cmp.Diff(want, clean.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if clean.GetManagedFields() != nil {
		t.Error("managed fields are still there")
	}
	if len(u.GetAnnotations()) != 3 {
		t.Error("the object itself was changed")
	}
}

func TestReadOther(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   []byte
	}{
		"Text":       {"some file", []byte("hello")},
		"Empty":      {"nothing", nil},
		"NoManifest": {"some other archive", archive(t, "README", "hello")},
		"NoPath":     {"a folder that is no path", archive(t, "workspaces/A B/workspaces.tenancy.kcp.io.json", `{"apiVersion":"v1","kind":"List","items":[]}`)},
		"Up":         {"a folder that leads elsewhere", archive(t, "workspaces/../../etc/diagnosis.json", "{}")},
		"Broken":     {"a document that is none", archive(t, "bundle.json", "{")},
		"Other":      {"a document of something else", archive(t, "bundle.json", `{"apiVersion":"v1","kind":"List"}`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if b, err := Read(bytes.NewReader(tc.file)); err == nil {
				t.Errorf("%s is read as %+v", tc.reason, b.Manifest)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	l := &limit{reader: strings.NewReader("abcdef"), left: 4}
	got, err := io.ReadAll(l)
	if string(got) != "abcd" || !errors.Is(err, ErrTooLarge) {
		t.Errorf("read %q, %v", got, err)
	}
}

func archive(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	err := files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600})
	if err == nil {
		_, err = io.WriteString(files, text)
	}
	if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzRead finds files that make reading go wrong other than by an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte("hello"))
	f.Fuzz(func(_ *testing.T, file []byte) { _, _ = Read(bytes.NewReader(file)) })
}
