package conversion

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Path leads from the root of an object to a field, through objects and maps. It is
// never empty.
type Path []string

// ParsePath reads a path: names with dots between them, with or without a dot at the
// beginning. What has a dot in its own name stands in brackets and quotes:
// spec.labels['a.b/c'].
func ParsePath(path string) (Path, error) {
	var parsed Path
	rest := strings.TrimPrefix(path, ".")
	for first := true; first || rest != ""; first = false {
		var name string
		var err error
		if strings.HasPrefix(rest, "[") && !first {
			name, rest, err = cutBracket(rest)
		} else {
			name, rest, err = cutName(rest, first)
		}
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, name)
	}
	return parsed, nil
}

// cutName takes a name, and the dot before it unless it is the first, from a path.
func cutName(path string, first bool) (name, rest string, err error) {
	if !first {
		var ok bool
		if path, ok = strings.CutPrefix(path, "."); !ok {
			return "", "", fmt.Errorf("a dot or a bracket is missing before %q", path)
		}
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	name, rest = path[:end], path[end:]
	switch {
	case name == "":
		return "", "", errors.New("a name is empty")
	case strings.ContainsAny(name, "]'\"*$@ \t\r\n"):
		return "", "", fmt.Errorf("%q is not the name of a field; in brackets and quotes it would be", name)
	}
	return name, rest, nil
}

// cutBracket takes a quoted name in brackets from a path.
func cutBracket(path string) (name, rest string, err error) {
	path = path[1:]
	if path == "" || path[0] != '\'' && path[0] != '"' {
		return "", "", errors.New("paths do not lead into lists: convert the whole list, by an expression")
	}
	quote := path[:1]
	name, rest, ok := strings.Cut(path[1:], quote+"]")
	switch {
	case !ok:
		return "", "", errors.New("a bracket is not closed")
	case name == "":
		return "", "", errors.New("a name is empty")
	}
	return name, rest, nil
}

// String returns the path as ParsePath reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, name := range p {
		quote := "'"
		if strings.Contains(name, "']") {
			quote = `"`
		}
		switch {
		case i > 0 && strings.ContainsAny(name, ".[]'\"*$@ \t\r\n"):
			b.WriteString("[" + quote + name + quote + "]")
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}

// within says whether p is other, or leads to something below it.
func (p Path) within(other Path) bool {
	if len(p) < len(other) {
		return false
	}
	for i, name := range other {
		if p[i] != name {
			return false
		}
	}
	return true
}

// get returns a copy of the value at the path.
func (p Path) get(object map[string]any) (value any, found bool) {
	parent, found := p.parent(object)
	if !found {
		return nil, false
	}
	value, found = parent[p[len(p)-1]]
	return runtime.DeepCopyJSONValue(value), found
}

// remove removes what is at the path.
func (p Path) remove(object map[string]any) {
	if parent, found := p.parent(object); found {
		delete(parent, p[len(p)-1])
	}
}

// parent returns the map that the last name of the path is looked for in.
func (p Path) parent(object map[string]any) (map[string]any, bool) {
	for _, name := range p[:len(p)-1] {
		child, ok := object[name].(map[string]any)
		if !ok {
			return nil, false
		}
		object = child
	}
	return object, true
}

// set puts value at the path, and the objects that lead there where they are missing.
func (p Path) set(object map[string]any, value any) error {
	for i, name := range p[:len(p)-1] {
		child, found := object[name]
		if !found || child == nil {
			child = map[string]any{}
			object[name] = child
		}
		next, ok := child.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is no object", p[:i+1])
		}
		object = next
	}
	object[p[len(p)-1]] = value
	return nil
}
