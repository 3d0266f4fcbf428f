package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

const (
	magic   = 0xED0CDAED
	version = 2

	headerSize = 16
	// sumOffset is where the checksum is in the meta behind the header of its page, metaSize
	// where it ends.
	sumOffset = 56
	metaSize  = sumOffset + 8

	// The sizes of pages that there are: those of the memory of machines.
	leastPage, mostPage = 1 << 10, 1 << 16

	// noList stands in place of the page with the free pages where there is none.
	noList = math.MaxUint64
)

// order is the order of bytes.
var order = binary.NativeEndian

// meta is where everything begins.
type meta struct {
	pageSize int64
	// root is the page of the root bucket, list that of the free pages.
	root, list uint64
	// pages is how many there are.
	pages       uint64
	transaction uint64
}

// readMeta returns the meta that counts. Both have to be sound: only one is after a crash,
// and nobody hands on a database after that.
func readMeta(file io.ReaderAt, size int64) (meta, error) {
	if size < headerSize+metaSize {
		return meta{}, errors.New("it is too short")
	}
	first, err := metaAt(file, 0)
	if err != nil {
		return meta{}, err
	}
	if size < 2*first.pageSize {
		return meta{}, errors.New("it is cut off")
	}
	second, err := metaAt(file, first.pageSize)
	if err != nil {
		return meta{}, err
	}
	if first.pageSize != second.pageSize {
		return meta{}, errors.New("its pages have two sizes")
	}
	last := first
	if second.transaction > first.transaction {
		last = second
	}
	if last.pages > uint64(size/last.pageSize) {
		return meta{}, errors.New("it is cut off")
	}
	return last, nil
}

// metaAt returns the meta on the page that begins at offset.
func metaAt(file io.ReaderAt, offset int64) (meta, error) {
	raw := make([]byte, metaSize)
	if _, err := file.ReadAt(raw, offset+headerSize); err != nil {
		return meta{}, err
	}
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:sumOffset])
	switch {
	case order.Uint32(raw) != magic:
		return meta{}, errors.New("it is no database")
	case order.Uint32(raw[4:]) != version:
		return meta{}, fmt.Errorf("it has version %d, not %d", order.Uint32(raw[4:]), version)
	case order.Uint64(raw[sumOffset:]) != sum.Sum64():
		return meta{}, errors.New("a checksum is wrong")
	}
	m := meta{
		pageSize: int64(order.Uint32(raw[8:])),
		root:     order.Uint64(raw[16:]), list: order.Uint64(raw[32:]),
		pages: order.Uint64(raw[40:]), transaction: order.Uint64(raw[48:]),
	}
	if m.pageSize < leastPage || m.pageSize > mostPage || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, fmt.Errorf("pages of %d bytes are none", m.pageSize)
	}
	return m, nil
}
