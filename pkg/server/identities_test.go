package server

import (
	"strings"
	"testing"
)

func TestParseIdentities(t *testing.T) {
	for reason, test := range map[string]struct{ in, problem string }{
		"as documented":   {in: "identities: [{export: tenancy.kcp.io, identity: abc}]"},
		"another field":   {in: "identities: [{export: a, identity: b, more: c}]", problem: "unknown field"},
		"no name":         {in: "identities: [{identity: b}]", problem: `identities[0].export: "" is not the name of an export`},
		"no identity":     {in: "identities: [{export: a}]", problem: "identities[0]: export a has no identity"},
		"an export twice": {in: "identities: [{export: a, identity: b}, {export: a, identity: c}]", problem: "identities[1]: export a is there twice"},
		"nothing":         {in: "", problem: "there are no identities"},
		"something else":  {in: "hello", problem: "cannot unmarshal"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := parseIdentities([]byte(test.in))
			if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}
