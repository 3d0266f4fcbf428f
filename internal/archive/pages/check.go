package pages

import (
	"bytes"
	"io"
)

// deepest is how deep trees are at the most: each page of a branch has two below it at the
// least.
const deepest = 64

// Check says what keeps bbolt from reading the database in a file of some bytes. see is
// called for each value, with the name of the bucket that it is in; its error is returned.
// What it is given it may keep, and not change.
func Check(file io.ReaderAt, size int64, see func(bucket string, key, value []byte) error) error {
	meta, err := readMeta(file, size)
	if err != nil {
		return err
	}
	c := &check{file: file, meta: meta, taken: make([]bool, meta.pages), see: see}
	for _, id := range []uint64{0, 1} {
		if err := c.take(id); err != nil {
			return err
		}
	}
	if err := c.free(); err != nil {
		return err
	}
	return c.bucket("", meta.root, 0)
}

// check is the state of a check.
type check struct {
	file io.ReaderAt
	meta meta
	// taken are the pages that are known to be used, or to be free.
	taken []bool
	see   func(bucket string, key, value []byte) error
}

// take notes that a page is known. None is known twice, which is also why a check ends.
func (c *check) take(id uint64) error {
	p := page{id: id}
	if id >= uint64(len(c.taken)) {
		return p.wrong("there is none")
	}
	if c.taken[id] {
		return p.wrong("it is used twice")
	}
	c.taken[id] = true
	return nil
}

// read returns a page, and takes it with those that it overflows to.
func (c *check) read(id uint64) (page, error) {
	if err := c.take(id); err != nil {
		return page{}, err
	}
	p := page{id: id, raw: make([]byte, c.meta.pageSize)}
	offset := int64(id) * c.meta.pageSize
	if _, err := c.file.ReadAt(p.raw, offset); err != nil {
		return page{}, err
	}
	if order.Uint64(p.raw) != id {
		return page{}, p.wrong("it says that it is %d", order.Uint64(p.raw))
	}
	overflow := order.Uint32(p.raw[12:])
	for i := range uint64(overflow) {
		if err := c.take(id + 1 + i); err != nil {
			return page{}, err
		}
	}
	if overflow > 0 {
		p.raw = make([]byte, (1+int64(overflow))*c.meta.pageSize)
		if _, err := c.file.ReadAt(p.raw, offset); err != nil {
			return page{}, err
		}
	}
	return p, nil
}

// free takes the free pages.
func (c *check) free() error {
	if c.meta.list == noList {
		return nil
	}
	p, err := c.read(c.meta.list)
	if err != nil {
		return err
	}
	if p.kind() != listKind {
		return p.wrong("it does not list free pages")
	}
	numbers, err := p.numbers()
	if err != nil {
		return err
	}
	for _, id := range numbers {
		if err := c.take(id); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the bucket whose tree begins at a page.
func (c *check) bucket(name string, root uint64, depth int) error {
	return (&tree{check: c, name: name}).descend(root, depth)
}

// tree is the check of one bucket.
type tree struct {
	*check
	name string
	// within says that it is one page within a value. It has no buckets.
	within bool
	// last is the key of the leaf that came last, floor that of the branch: what follows is
	// behind the one, and not before the other.
	last, floor []byte
}

func (t *tree) descend(id uint64, depth int) error {
	p, err := t.read(id)
	if err != nil {
		return err
	}
	return t.page(p, depth)
}

func (t *tree) page(p page, depth int) error {
	if depth > deepest {
		return p.wrong("it is too deep")
	}
	if p.kind() != branchKind && p.kind() != leafKind {
		return p.wrong("it is no page of a bucket")
	}
	if p.kind() == branchKind && p.count() == 0 {
		return p.wrong("nothing is below it")
	}
	entries, err := p.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if t.last != nil && bytes.Compare(e.key, t.last) <= 0 || bytes.Compare(e.key, t.floor) < 0 {
			return p.wrong("its keys are in disorder")
		}
		if p.kind() == branchKind {
			t.floor = e.key
			err = t.descend(e.child, depth+1)
		} else {
			t.last = e.key
			err = t.leaf(p, e, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaf checks an entry of a leaf.
func (t *tree) leaf(p page, e entry, depth int) error {
	if !e.isBucket {
		return t.see(t.name, e.key, e.value)
	}
	if t.within {
		return p.wrong("there is a bucket in one within it")
	}
	const bucketSize = 16
	if len(e.value) < bucketSize {
		return p.wrong("a bucket is cut off")
	}
	if root := order.Uint64(e.value); root != 0 {
		return t.bucket(string(e.key), root, depth+1)
	}
	within := page{id: p.id, raw: e.value[bucketSize:]}
	if len(within.raw) < headerSize || within.kind() != leafKind {
		return p.wrong("a bucket within it is none")
	}
	return (&tree{check: t.check, name: string(e.key), within: true}).page(within, depth+1)
}
