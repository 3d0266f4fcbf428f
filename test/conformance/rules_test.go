package conformance

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// rule says of some tests that they are run or why they are not. The first rule that
// speaks of a test decides.
type rule struct {
	// Files are of the form of spec.File; none means all of them.
	Files []string `json:"files,omitempty"`
	// Tests are parts of names; none means all of the files' tests.
	Tests []string `json:"tests,omitempty"`
	// Run and LeftOut: exactly one of them is set.
	Run     bool   `json:"run,omitempty"`
	LeftOut string `json:"leftOut,omitempty"`
}

// What is run in workspaces as they are, and what where workload types are served.
const (
	rulesFile      = "rules.yaml"
	typesRulesFile = "rules-types.yaml"
)

func rules(t *testing.T, file string) []rule {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rule
	if err := yaml.UnmarshalStrict(data, &rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// judge returns for each test the reason why it is left out, or nothing for those that
// are run. Rules that do not fit the tests are an error, and so is a test without one.
func judge(specs []spec, rules []rule) (map[string]string, error) {
	verdicts := map[string]string{}
	used := map[string]bool{}
	var errs []error
	for i, r := range rules {
		if r.Run == (r.LeftOut != "") {
			errs = append(errs, fmt.Errorf("rule %d has to say either run or leftOut", i+1))
		}
	}
	for _, s := range specs {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.speaksOf(s) })
		if i < 0 {
			errs = append(errs, fmt.Errorf("no rule says whether to run %q (%s)", s.Name, s.File))
			continue
		}
		for _, part := range rules[i].matching(s) {
			used[key(i, part)] = true
		}
		verdicts[s.Name] = rules[i].LeftOut
	}
	for i, r := range rules {
		for _, part := range append(slices.Clone(r.Files), r.Tests...) {
			if !used[key(i, part)] {
				errs = append(errs, fmt.Errorf("rule %d decides about no test with %q", i+1, part))
			}
		}
	}
	return verdicts, errors.Join(errs...)
}

func key(rule int, part string) string {
	return fmt.Sprintf("%d %s", rule, part)
}

func (r rule) speaksOf(s spec) bool {
	return (len(r.Files) == 0 || slices.Contains(r.Files, s.File)) &&
		(len(r.Tests) == 0 || slices.ContainsFunc(r.Tests, func(part string) bool { return strings.Contains(s.Name, part) }))
}

// matching returns the files and tests of the rule that fit the test.
func (r rule) matching(s spec) []string {
	var parts []string
	for _, part := range r.Tests {
		if strings.Contains(s.Name, part) {
			parts = append(parts, part)
		}
	}
	if slices.Contains(r.Files, s.File) {
		parts = append(parts, s.File)
	}
	return parts
}

func TestRules(t *testing.T) {
	for _, file := range []string{rulesFile, typesRulesFile} {
		if _, err := judge(all, rules(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
