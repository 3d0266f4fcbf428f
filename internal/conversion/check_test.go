package conversion_test

import (
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/conversion"
)

func TestCheck(t *testing.T) {
	both := func(there, back string) string {
		return "conversions: [{from: v1, to: v2, rules: [" + there + "]}, {from: v2, to: v1, rules: [" + back + "]}]"
	}
	for name, tc := range map[string]struct {
		reason string
		spec   string
		// want is in the error, wantBlind in that where the schema is not there; empty if
		// there is none.
		want, wantBlind string
	}{
		"Right":              {reason: "rules that fit the schema", spec: both("{field: spec.age, destination: spec.years}", "{field: spec.years, destination: spec.age}")},
		"OldVersion":         {reason: "what is only read needs no way back", spec: "conversions: [{from: v1alpha1, to: v2, rules: []}]"},
		"OneWay":             {reason: "what is written in a version is read in it, too", spec: "conversions: [{from: v1, to: v2}]", want: "needs one from v2 to v1"},
		"NoField":            {reason: "a field that is not there", spec: both("{field: spec.agee, destination: spec.years}", ""), want: "no field spec.agee"},
		"NoDestination":      {reason: "a destination that is not there", spec: both("{field: spec.age, destination: spec.age}", ""), want: "no field spec.age"},
		"NoPreserved":        {reason: "a preserved field that is not there", spec: "conversions: [{from: v1, to: v2, preserve: [spec.a]}, {from: v2, to: v1}]", want: "no field spec.a"},
		"IntoList":           {reason: "a path into a list", spec: both("{field: spec.ports.port, destination: spec.years}", ""), want: "is a list"},
		"Version":            {reason: "a version that is not there", spec: "conversions: [{from: v1, to: v9}, {from: v9, to: v1}]", want: "no such version"},
		"Itself":             {reason: "a version has no conversion to itself", spec: "conversions: [{from: v1, to: v1}]", want: "another version", wantBlind: "another version"},
		"Twice":              {reason: "one conversion for each pair", spec: "conversions: [{from: v1, to: v2}, {from: v1, to: v2}, {from: v2, to: v1}]", want: "Duplicate", wantBlind: "Duplicate"},
		"Metadata":           {reason: "the metadata is the server's", spec: both("{field: spec.kept, destination: metadata.name}", ""), want: "same in all versions", wantBlind: "same in all versions"},
		"Path":               {reason: "what is no path", spec: both("{field: 'spec.a[*]', destination: spec.years}", ""), want: "lead into lists", wantBlind: "lead into lists"},
		"Syntax":             {reason: "what is no expression", spec: both("{field: spec.age, destination: spec.years, transformation: 'self +'}", ""), want: "Syntax error", wantBlind: "Syntax error"},
		"Variable":           {reason: "expressions see nothing but self", spec: both("{field: spec.age, destination: spec.years, transformation: 'object.spec'}", ""), want: "undeclared reference", wantBlind: "undeclared reference"},
		"Typed":              {reason: "self has the type of its field", spec: both("{field: spec.age, destination: spec.years, transformation: 'self.size()'}", ""), want: "no matching overload"},
		"Result":             {reason: "the result is of the type of its destination", spec: both("{field: spec.age, destination: spec.years, transformation: 'string(self)'}", ""), want: "returns string"},
		"OptionalResult":     {reason: "so is one that may be missing", spec: both("{field: spec.age, destination: spec.years, transformation: 'optional.of(string(self))'}", ""), want: "returns string"},
		"Types":              {reason: "without a transformation the types have to be the same", spec: both("{field: spec.age, destination: spec.size}", ""), want: "a transformation is needed"},
		"Overlapping":        {reason: "two rules write to one place", spec: both("{field: spec.age, destination: spec.extra}, {field: spec.age, destination: spec.extra.a}", ""), want: "is inside spec.extra", wantBlind: "is inside spec.extra"},
		"SameDestination":    {reason: "in two spellings", spec: both("{field: spec.age, destination: spec.years}, {field: spec.age, destination: .spec.years}", ""), want: "is inside spec.years", wantBlind: "is inside spec.years"},
		"TooManyExpressions": {reason: "compiled expressions take memory", spec: both(strings.Repeat("{field: spec.age, destination: spec.years, transformation: self},", 300), ""), want: "more than 128", wantBlind: "more than 128"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(t, tc.spec)
			for _, check := range []struct {
				versions []conversion.Version
				want     string
			}{{people(t), tc.want}, {nil, tc.wantBlind}} {
				errs := conversion.Check(spec, check.versions)
				got := ""
				if err := errs.ToAggregate(); err != nil {
					got = err.Error()
				}
				if check.want == "" && got != "" || !strings.Contains(got, check.want) {
					t.Errorf("%s: with %d versions: got %q, want %q", tc.reason, len(check.versions), got, check.want)
				}
			}
		})
	}
}
