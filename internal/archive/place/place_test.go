package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scene is a folder with a file, links to it, to nothing, and in a circle.
func scene(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "sub", "file"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link": "sub/file", "absolute": filepath.Join(folder, "sub", "file"), "second": "link", "missing": "sub/new",
		"circle": "circle", "folder": "sub", "sub/up": "../link",
	} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Skip("there are no links here")
		}
	}
	return folder
}

func TestOf(t *testing.T) {
	folder := scene(t)
	t.Chdir(folder)
	for name, tc := range map[string]struct{ reason, file, want string }{
		"File":       {"a file is itself", "sub/file", "sub/file"},
		"Nothing":    {"so is what is not there", "sub/other", "sub/other"},
		"NoFolder":   {"what cannot be is told when it is written", "no/folder", "no/folder"},
		"Link":       {"a link is what it leads to", "link", "sub/file"},
		"Absolute":   {"wherever that is", "absolute", "sub/file"},
		"Second":     {"by way of others", "second", "sub/file"},
		"Dangling":   {"even if it is not there", "missing", "sub/new"},
		"UpFromLink": {"up is where the folder really is", "folder/up", "sub/file"},
	} {
		got, err := Of(tc.file)
		if want := filepath.Join(folder, tc.want); err != nil || got != want {
			t.Errorf("%s: %s: got %s, %v, want %s", name, tc.reason, got, err, want)
		}
	}
	if got, err := Of("circle"); err == nil {
		t.Errorf("a circle leads to %s", got)
	}
}

func write(t *testing.T, place, text string) *File {
	t.Helper()
	file, err := Open(place)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return file
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestCommitAndDiscard(t *testing.T) {
	folder := t.TempDir()
	place := filepath.Join(folder, "state.tar")
	first := write(t, place, "first")
	if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is something before it is complete: %v", err)
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	first.Discard()
	write(t, place, "second").Discard()
	if content, err := os.ReadFile(place); string(content) != "first" {
		t.Errorf("its content is %q, %v", content, err)
	}
	if diff := cmp.Diff([]string{"state.tar"}, names(t, folder)); diff != "" {
		t.Errorf("nothing else is left (-want +got)\n%s", diff)
	}
}

// TestLongName: whatever a file may be called can be replaced.
func TestLongName(t *testing.T) {
	place := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Skipf("names are shorter here: %v", err)
	}
	file := write(t, place, "new")
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(place); string(content) != "new" {
		t.Errorf("its content is %q, %v", content, err)
	}
	if !Sweep(place) {
		t.Error("something is said to be written")
	}
}

// TestSweep: what nobody writes any more goes; what somebody writes, and what has another
// name, stays.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	place := filepath.Join(folder, "state.tar")
	others := []string{".state.tar-mine", ".state.tar.gz-1.kcp-unfinished", ".state.tar-old-1.kcp-unfinished", "state.tar-1.kcp-unfinished"}
	for _, name := range append(others, ".state.tar-1.kcp-unfinished", ".state.tar-2.kcp-unfinished") {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second := write(t, place, "first"), write(t, place, "second")
	if Sweep(place) {
		t.Error("nothing is said to be written")
	}
	want := append(others, filepath.Base(first.Name()), filepath.Base(second.Name()))
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), names(t, folder)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := errors.Join(first.Commit(), second.Commit()); err != nil {
		t.Fatal(err)
	}
	if !Sweep(place) {
		t.Error("something is said to be written")
	}
	if content, err := os.ReadFile(place); string(content) != "second" {
		t.Errorf("its content is %q, %v", content, err)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(others, "state.tar"))), names(t, folder)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !Sweep(filepath.Join(folder, "no", "folder")) {
		t.Error("something is said to be written where nothing can be")
	}
}
