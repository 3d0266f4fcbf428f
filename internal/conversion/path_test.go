package conversion_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/conversion"
)

func TestParsePath(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		path   string
		want   conversion.Path
	}{
		"Plain":        {"names with dots between them", "spec.size", conversion.Path{"spec", "size"}},
		"LeadingDot":   {"as paths are written in definitions", ".spec.size", conversion.Path{"spec", "size"}},
		"One":          {"a whole part of the object", "spec", conversion.Path{"spec"}},
		"MapKey":       {"what has dots in its own name is quoted", "spec.labels['a.b/c'].d", conversion.Path{"spec", "labels", "a.b/c", "d"}},
		"DoubleQuotes": {"either quote will do", `spec["it's"]`, conversion.Path{"spec", "it's"}},
		"Dash":         {"names of fields may have dashes", "spec.x-y", conversion.Path{"spec", "x-y"}},
		"Empty":        {"there is no field without a name", "", nil},
		"Dot":          {"there is no field without a name", ".", nil},
		"TwoDots":      {"there is no field without a name", "spec..size", nil},
		"EndsInDot":    {"there is no field without a name", "spec.size.", nil},
		"EmptyKey":     {"there is no field without a name", "spec['']", nil},
		"All":          {"paths do not lead into lists", "spec.items[*].size", nil},
		"Index":        {"paths do not lead into lists", "spec.items[0]", nil},
		"Open":         {"a bracket that is not closed", "spec['a", nil},
		"NoDot":        {"a name after a bracket needs a dot", "spec['a']b", nil},
		"Root":         {"the root is not an object's", "['spec']", nil},
		"Dollar":       {"nothing but fields is meant by a path", "$.spec", nil},
		"Space":        {"what is not a name is quoted", "spec.a b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := conversion.ParsePath(tc.path)
			if (err == nil) != (tc.want != nil) {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzParsePath: whatever is read as a path is written as one that leads to the same
// field.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.size", ".a['b.c'].d", `a["']"]`, "a['b\"]']", "a[*]", "..", "a[\"", "a.b c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		parsed, err := conversion.ParsePath(path)
		if err != nil {
			return
		}
		if len(parsed) == 0 || slices.Contains(parsed, "") {
			t.Fatalf("%q is read as %q", path, []string(parsed))
		}
		again, err := conversion.ParsePath(parsed.String())
		if err != nil || !slices.Equal(parsed, again) {
			t.Errorf("%q is read as %q, written as %q and then read as %q, error %v", path, []string(parsed), parsed, []string(again), err)
		}
	})
}
