package completion

import "strings"

// slot is a place for an argument in a usage line.
type slot struct {
	// names are what the line calls the argument; more than one if there is a choice.
	names []string
	// repeated says that there may be more of it.
	repeated bool
}

// slotsOf returns the places for arguments in a usage line: PATH, and NAME or NUMBER
// repeated, of "copy PATH [{NAME | NUMBER}...]". What is behind "--" belongs to another
// program, and flags are no arguments.
func slotsOf(use string) []slot {
	var slots []slot
	choice := false
	for _, word := range strings.Fields(use)[1:] {
		if word == "--" {
			break
		}
		opens, closes := strings.Contains(word, "{"), strings.Contains(word, "}")
		name := strings.Trim(word, "[]{}<>.|")
		repeated := strings.Contains(word, "...")
		switch {
		case strings.HasPrefix(name, "-"):
			// The word behind a flag is its value.
			continue
		case choice && name != "":
			last := &slots[len(slots)-1]
			last.names = append(last.names, name)
			last.repeated = last.repeated || repeated
		case name != "":
			slots = append(slots, slot{names: []string{name}, repeated: repeated})
		case repeated && len(slots) > 0:
			slots[len(slots)-1].repeated = true
		}
		choice = (choice || opens) && !closes
	}
	return slots
}

// slotFor returns the place of the argument that follows n others. ok is false if there
// is none.
func slotFor(slots []slot, n int) (s slot, ok bool) {
	switch {
	case n < len(slots):
		return slots[n], true
	case len(slots) > 0 && slots[len(slots)-1].repeated:
		return slots[len(slots)-1], true
	default:
		return slot{}, false
	}
}
