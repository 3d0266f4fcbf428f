package pages

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// database returns one with many values in one bucket, of which one is large, a value in
// another, and none in a third, and with free pages.
func database(t testing.TB, many int) (content []byte, values map[string]string) {
	t.Helper()
	config := backend.DefaultBackendConfig(zap.NewNop())
	config.Path, config.UnsafeNoFsync = filepath.Join(t.TempDir(), "db"), true
	b, values := backend.New(config), map[string]string{}
	tx := b.BatchTx()
	tx.LockOutsideApply()
	for _, bucket := range []backend.Bucket{schema.Key, schema.Meta, schema.Lease} {
		tx.UnsafeCreateBucket(bucket)
	}
	put := func(bucket backend.Bucket, key, value string) {
		tx.UnsafePut(bucket, []byte(key), []byte(value))
		values[bucket.String()+"/"+key] = value
	}
	for i := range many {
		put(schema.Key, fmt.Sprintf("key-%04d", i), fmt.Sprint(i))
	}
	put(schema.Key, "large", string(bytes.Repeat([]byte("x"), many*50)))
	put(schema.Meta, "small", "value")
	tx.Unlock()
	b.ForceCommit()
	tx.LockOutsideApply()
	for i := range many / 4 {
		key := fmt.Sprintf("key-%04d", i)
		tx.UnsafeDelete(schema.Key, []byte(key))
		delete(values, schema.Key.String()+"/"+key)
	}
	tx.Unlock()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(config.Path)
	if err != nil {
		t.Fatal(err)
	}
	return content, values
}

func checked(content []byte) (map[string]string, error) {
	seen := map[string]string{}
	err := Check(bytes.NewReader(content), int64(len(content)), func(bucket string, key, value []byte) error {
		seen[bucket+"/"+string(key)] = string(value)
		return nil
	})
	return seen, err
}

func TestCheckSeesAllValues(t *testing.T) {
	content, want := database(t, 2000)
	got, err := checked(content)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(want, got) {
		t.Errorf("the database has %d values, %d were seen (-want +got)\n%s", len(want), len(got), cmp.Diff(want, got))
	}
}

var errStop = errors.New("stop")

func TestCheckReturnsWhatSeeSays(t *testing.T) {
	content, _ := database(t, 2000)
	err := Check(bytes.NewReader(content), int64(len(content)), func(string, []byte, []byte) error { return errStop })
	if !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
}

func TestCheckRefuses(t *testing.T) {
	whole, _ := database(t, 2000)
	last, err := readMeta(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	at := func(id uint64) int { return int(id) * int(last.pageSize) }
	// root is a leaf with the buckets; key the page at which the largest of them begins.
	root := page{id: last.root, raw: whole[at(last.root):]}
	buckets, err := root.entries()
	if err != nil {
		t.Fatal(err)
	}
	key := order.Uint64(buckets[0].value)
	branch := page{id: key, raw: whole[at(key):]}
	if branch.kind() != branchKind {
		t.Fatalf("page %d is no branch", key)
	}
	children, err := branch.entries()
	if err != nil {
		t.Fatal(err)
	}
	below := children[0]
	inMetas := func(change func(raw []byte)) func([]byte) {
		return func(content []byte) {
			for _, start := range []int{headerSize, int(last.pageSize) + headerSize} {
				raw := content[start:]
				change(raw)
				sum := fnv.New64a()
				_, _ = sum.Write(raw[:sumOffset])
				order.PutUint64(raw[sumOffset:], sum.Sum64())
			}
		}
	}
	// withList has the free pages listed on one of them, as etcd has bbolt not do.
	withList := func(count uint16, ids ...uint64) func([]byte) {
		return func(content []byte) {
			free := freePage(t, whole)
			inMetas(func(raw []byte) { order.PutUint64(raw[32:], free) })(content)
			raw := content[at(free):]
			clear(raw[:last.pageSize])
			order.PutUint64(raw, free)
			order.PutUint16(raw[8:], listKind)
			order.PutUint16(raw[10:], count)
			for i, id := range ids {
				order.PutUint64(raw[headerSize+8*i:], id)
			}
		}
	}
	sound := bytes.Clone(whole)
	withList(0)(sound)
	if _, err := checked(sound); err != nil {
		t.Errorf("a database with a list of free pages: %v", err)
	}
	for name, tc := range map[string]struct {
		reason string
		spoil  func(content []byte)
		want   string
	}{
		"Other":      {"it is something else", func(b []byte) { clear(b) }, "it is no database"},
		"OneMeta":    {"a page is another one", func(b []byte) { clear(b[last.pageSize:][:last.pageSize]) }, "it is no database"},
		"OneBit":     {"a bit is another one", func(b []byte) { b[headerSize+20] ^= 1 }, "a checksum is wrong"},
		"Version":    {"it is of another version", inMetas(func(b []byte) { b[4]++ }), "it has version 3, not 2"},
		"PageSize":   {"sizes are powers of two", inMetas(func(b []byte) { b[8]++ }), fmt.Sprintf("pages of %d bytes are none", last.pageSize+1)},
		"MorePages":  {"the last pages are not there", inMetas(func(b []byte) { b[42]++ }), "it is cut off"},
		"NoRoot":     {"the root is not there", inMetas(func(b []byte) { order.PutUint64(b[16:], 1<<40) }), "page 1099511627776: there is none"},
		"RootIsMeta": {"pages are one thing", inMetas(func(b []byte) { order.PutUint64(b[16:], 1) }), "page 1: it is used twice"},
		"NoList":     {"another page is in its place", inMetas(func(b []byte) { order.PutUint64(b[32:], last.root) }), fmt.Sprintf("page %d: it does not list free pages", last.root)},
		"LongList": {
			"the list is longer than its page",
			withList(0xFFF0), fmt.Sprintf("page %d: there is no room for 65520 numbers", freePage(t, whole)),
		},
		"LongerList": {
			"the list is longer than can be counted",
			withList(countElsewhere, 1<<60), fmt.Sprintf("page %d: there is no room for 1152921504606846976 numbers", freePage(t, whole)),
		},
		"FreeAndUsed": {
			"what is free would be written over",
			withList(1, key),
			fmt.Sprintf("page %d: it is used twice", key),
		},
		"OtherPage": {
			"pages know who they are",
			func(b []byte) { order.PutUint64(b[at(key):], 3000) },
			fmt.Sprintf("page %d: it says that it is 3000", key),
		},
		"Overflow": {
			"it goes on behind the end",
			func(b []byte) { order.PutUint32(b[at(key)+12:], 1<<30) }, "",
		},
		"Kind": {
			"there are two kinds",
			func(b []byte) { b[at(key)+8] = 3 },
			fmt.Sprintf("page %d: it is no page of a bucket", key),
		},
		"NothingBelow": {
			"who looks for a key goes on somewhere",
			func(b []byte) { order.PutUint16(b[at(key)+10:], 0) },
			fmt.Sprintf("page %d: nothing is below it", key),
		},
		"Circle": {
			"who follows it does not come to an end",
			func(b []byte) { order.PutUint64(b[at(key)+headerSize+8:], key) },
			fmt.Sprintf("page %d: it is used twice", key),
		},
		"ManyEntries": {
			"entries are on their page",
			func(b []byte) { order.PutUint16(b[at(below.child)+10:], 0xFFFF) }, "",
		},
		"FarEntry": {
			"keys are on their page",
			func(b []byte) { order.PutUint32(b[at(below.child)+headerSize+4:], 1<<31) },
			fmt.Sprintf("page %d: an entry is not where it should be", below.child),
		},
		"OneInAnother": {
			"reading it would take as long as somebody wants",
			func(b []byte) {
				e := b[at(below.child)+headerSize:]
				order.PutUint32(e[elementSize+4:], order.Uint32(e[4:])-elementSize)
			},
			fmt.Sprintf("page %d: an entry is not where it should be", below.child),
		},
		"NoKey": {
			"keys have a length",
			func(b []byte) { order.PutUint32(b[at(below.child)+headerSize+8:], 0) },
			fmt.Sprintf("page %d: a key is empty", below.child),
		},
		"Disorder": {
			"keys are looked up by their order",
			func(b []byte) {
				e := b[at(below.child)+headerSize:]
				b[at(below.child)+headerSize+int(order.Uint32(e[4:]))] = 'z'
			},
			fmt.Sprintf("page %d: its keys are in disorder", below.child),
		},
		"BeforeItsBranch": {
			"keys are looked up by those of branches",
			func(b []byte) {
				e := b[at(below.child)+headerSize:]
				b[at(below.child)+headerSize+int(order.Uint32(e[4:]))] = 'a'
			},
			fmt.Sprintf("page %d: its keys are in disorder", below.child),
		},
		"BucketWithin": {
			"a small bucket is a leaf",
			func(b []byte) {
				i := bytes.Index(b[at(last.root):], []byte("smallvalue"))
				b[at(last.root)+i-elementSize-headerSize+8] = 9
			},
			fmt.Sprintf("page %d: a bucket within it is none", last.root),
		},
		"BucketWithinBucket": {
			"a small bucket has values alone",
			func(b []byte) {
				i := bytes.Index(b[at(last.root):], []byte("smallvalue"))
				b[at(last.root)+i-elementSize] = bucketFlag
			},
			fmt.Sprintf("page %d: there is a bucket in one within it", last.root),
		},
	} {
		t.Run(name, func(t *testing.T) {
			content := bytes.Clone(whole)
			tc.spoil(content)
			_, err := checked(content)
			if err == nil {
				t.Fatalf("%s: it is sound", tc.reason)
			}
			if tc.want != "" && err.Error() != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, err, tc.want)
			}
		})
	}
	for _, size := range []int{0, 1, 100, 5000, len(whole) / 2} {
		if _, err := checked(whole[:size]); err == nil {
			t.Errorf("the first %d bytes are sound", size)
		}
	}
}

// freePage returns a page of a database that is not used.
func freePage(t *testing.T, content []byte) uint64 {
	t.Helper()
	m, err := readMeta(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	c := &check{
		file: bytes.NewReader(content), meta: m, taken: make([]bool, m.pages),
		see: func(string, []byte, []byte) error { return nil },
	}
	if err := c.bucket("", m.root, 0); err != nil {
		t.Fatal(err)
	}
	for id, taken := range c.taken {
		if id > 1 && !taken {
			return uint64(id)
		}
	}
	t.Fatal("all pages are used")
	return 0
}

// FuzzCheck: whatever is in a file, Check comes to an end and says so.
func FuzzCheck(f *testing.F) {
	content, _ := database(f, 20)
	f.Add(content, uint(0), byte(0))
	f.Add(content, uint(5000), byte(1))
	f.Fuzz(func(t *testing.T, content []byte, at uint, with byte) {
		if len(content) > 0 {
			content = bytes.Clone(content)
			content[at%uint(len(content))] ^= with
		}
		seen := 0
		err := Check(bytes.NewReader(content), int64(len(content)), func(string, []byte, []byte) error { seen++; return nil })
		if err == nil && len(content) < 2*leastPage {
			t.Errorf("%d bytes are a database with %d values", len(content), seen)
		}
	})
}
