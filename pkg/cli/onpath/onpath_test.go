package onpath

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are others there")
	}
	top := t.TempDir()
	var folders []string
	for _, name := range []string{"empty", "first", "link", "broken", "text", "folder"} {
		folder := filepath.Join(top, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	first := filepath.Join(top, "first", "x")
	err := errors.Join(
		os.WriteFile(first, nil, 0o755),
		os.Symlink(first, filepath.Join(top, "link", "x")),
		os.Symlink("/nowhere", filepath.Join(top, "broken", "x")),
		os.WriteFile(filepath.Join(top, "text", "x"), nil, 0o644),
		os.Mkdir(filepath.Join(top, "folder", "x"), 0o755),
	)
	if err != nil {
		t.Fatal(err)
	}
	target, err := filepath.EvalSymlinks(first)
	if err != nil {
		t.Fatal(err)
	}
	want := []Program{
		{File: first, Target: target},
		{File: filepath.Join(top, "link", "x"), Target: target},
		{File: filepath.Join(top, "broken", "x")},
	}
	if diff := cmp.Diff(want, Find("x", append(folders, filepath.Join(top, "gone")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFolders(t *testing.T) {
	list := string(os.PathListSeparator)
	t.Setenv("PATH", "/a"+list+"/b/"+list+"/a/."+list+"")
	want := []string{filepath.Clean("/a"), filepath.Clean("/b"), "."}
	if diff := cmp.Diff(want, Folders()); diff != "" {
		t.Errorf("each once, and the current one for nothing (-want +got):\n%s", diff)
	}
}
