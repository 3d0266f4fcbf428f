package completion

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCache(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := &cache{folder: filepath.Join(t.TempDir(), "cache"), now: func() time.Time { return now }}
	key := cacheKey("workspaces", "https://host", "root", ".", "me")
	if _, ok := c.get(key); ok {
		t.Fatal("an empty cache has an answer")
	}
	want := []name{{Name: "payments", Description: "team, Ready"}}
	c.put(key, want)
	got, ok := c.get(key)
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("fresh answer: %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := c.get(cacheKey("workspaces", "https://host", "root", ".", "you")); ok {
		t.Error("somebody gets the answer to somebody else")
	}
	now = now.Add(fresh)
	if _, ok := c.get(key); ok {
		t.Error("an answer is given that is too old")
	}
	now = now.Add(-2 * fresh)
	if _, ok := c.get(key); ok {
		t.Error("an answer of the future is given")
	}
}

func TestCacheIsPrivateAndSwept(t *testing.T) {
	now := time.Now()
	folder := filepath.Join(t.TempDir(), "cache")
	c := &cache{folder: folder, now: func() time.Time { return now }}
	c.put("old", nil)
	now = now.Add(forgotten + time.Minute)
	c.put("new", nil)
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name() != "new" {
		t.Errorf("the cache has %v, want the new entry alone", files)
	}
	for _, file := range append([]string{folder}, filepath.Join(folder, "new")) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v: others can read it", file, info.Mode())
		}
	}
}

func TestBrokenCacheIsEmpty(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, c := range map[string]*cache{
		"no folder":            {now: time.Now},
		"a folder that is not": {folder: file, now: time.Now},
		"broken content":       {folder: filepath.Dir(file), now: time.Now},
	} {
		if reason != "broken content" {
			c.put("file", []name{{Name: "x"}})
		}
		if _, ok := c.get("file"); ok {
			t.Errorf("%s: there is an answer", reason)
		}
	}
}
