package pages

import (
	"fmt"
)

// The kinds of pages.
const (
	branchKind = 0x01
	leafKind   = 0x02
	listKind   = 0x10
)

const (
	// elementSize is what describes an entry, at the beginning of a page behind the header.
	elementSize = 16
	// bucketFlag says of the entry of a leaf that it is a bucket.
	bucketFlag = 0x01
	// countElsewhere stands for a count that is the first number of the list.
	countElsewhere = 0xFFFF
)

// page is one page with those that it overflows to.
type page struct {
	id  uint64
	raw []byte
}

func (p page) kind() uint16 { return order.Uint16(p.raw[8:]) }

func (p page) count() int { return int(order.Uint16(p.raw[10:])) }

// wrong says what is wrong with the page.
func (p page) wrong(format string, args ...any) error {
	return fmt.Errorf("page %d: %w", p.id, fmt.Errorf(format, args...))
}

// entry is a key on a page.
type entry struct {
	key []byte
	// child is the page below it, on a branch.
	child uint64
	// value is what the key has, on a leaf.
	value    []byte
	isBucket bool
}

// entries returns the entries. They lie behind what describes them, each behind the one
// before, so that none is part of another one.
func (p page) entries() ([]entry, error) {
	all, free := make([]entry, 0, p.count()), headerSize+p.count()*elementSize
	if free > len(p.raw) {
		return nil, p.wrong("there is no room for %d entries", p.count())
	}
	for offset := headerSize; len(all) < p.count(); offset += elementSize {
		var e entry
		element := p.raw[offset:]
		position, keySize, valueSize := order.Uint32(element), order.Uint32(element[4:]), uint32(0)
		if p.kind() == branchKind {
			e.child = order.Uint64(element[8:])
		} else {
			e.isBucket = position&bucketFlag != 0
			position, keySize, valueSize = keySize, order.Uint32(element[8:]), order.Uint32(element[12:])
		}
		key, value := offset+int(position), offset+int(position)+int(keySize)
		end := value + int(valueSize)
		switch {
		case key == value:
			return nil, p.wrong("a key is empty")
		case key < free || end > len(p.raw):
			return nil, p.wrong("an entry is not where it should be")
		}
		e.key, e.value, free = p.raw[key:value], p.raw[value:end], end
		all = append(all, e)
	}
	return all, nil
}

// numbers returns the pages that are listed on it.
func (p page) numbers() ([]uint64, error) {
	rest, count := p.raw[headerSize:], uint64(p.count())
	if count == countElsewhere {
		count, rest = order.Uint64(rest), rest[8:]
	}
	if count > uint64(len(rest)/8) {
		return nil, p.wrong("there is no room for %d numbers", count)
	}
	all := make([]uint64, 0, count)
	for i := range count {
		all = append(all, order.Uint64(rest[8*i:]))
	}
	return all, nil
}
