package completion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// fresh is how long an answer is given again.
	fresh = 10 * time.Second
	// forgotten is after how long a file is in the way.
	forgotten = time.Hour
)

// cache is a folder with a file for each answer. Whatever is wrong with it, it is as if
// it were empty.
type cache struct {
	folder string
	now    func() time.Time
}

// newCache returns the cache in the folder that the system has for such things.
func newCache() *cache {
	c := &cache{now: time.Now}
	if folder, err := os.UserCacheDir(); err == nil {
		c.folder = filepath.Join(folder, "kcp", "completion")
	}
	return c
}

// cacheKey makes a file name of what an answer depends on.
func cacheKey(parts ...string) string {
	// Lengths are not needed: no part but the last contains the separator.
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// entry is the content of a file.
type entry struct {
	Time  time.Time `json:"time"`
	Names []name    `json:"names"`
}

func (c *cache) get(key string) ([]name, bool) {
	if c.folder == "" {
		return nil, false
	}
	content, err := os.ReadFile(filepath.Join(c.folder, key))
	if err != nil {
		return nil, false
	}
	var e entry
	if err := json.Unmarshal(content, &e); err != nil {
		return nil, false
	}
	age := c.now().Sub(e.Time)
	return e.Names, age >= 0 && age < fresh
}

// put keeps an answer, in a file that is there as a whole or not at all, since two shells
// may ask at the same time.
func (c *cache) put(key string, names []name) {
	if c.folder == "" || os.MkdirAll(c.folder, 0o700) != nil {
		return
	}
	c.sweep()
	content, err := json.Marshal(entry{Time: c.now(), Names: names})
	if err != nil {
		return
	}
	// CreateTemp makes files that only their owner can read.
	file, err := os.CreateTemp(c.folder, ".new-*")
	if err != nil {
		return
	}
	_, err = file.Write(content)
	if closed := file.Close(); err != nil || closed != nil || os.Rename(file.Name(), filepath.Join(c.folder, key)) != nil {
		_ = os.Remove(file.Name())
	}
}

// sweep removes what nobody asks for any more.
func (c *cache) sweep() {
	files, err := os.ReadDir(c.folder)
	if err != nil {
		return
	}
	for _, file := range files {
		if info, err := file.Info(); err == nil && c.now().Sub(info.ModTime()) > forgotten {
			_ = os.Remove(filepath.Join(c.folder, file.Name()))
		}
	}
}
