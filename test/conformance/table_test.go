package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const document = "../../docs/conformance.md"

const preamble = `# Conformance

Upstream's end-to-end tests of API machinery, access control and events
(` + "`k8s.io/kubernetes/test/e2e/{apimachinery,auth,instrumentation}`" + `), unchanged, in workspaces of a server.
` + "`make test-conformance`" + ` runs them and writes this page; which tests are run is decided in
[rules.yaml](../test/conformance/rules.yaml). A ● marks tests that a cluster must pass to be called conformant.

A workspace has no nodes, and none of the types that need them. What upstream's tests only want to store is
there as CustomResourceDefinitions with upstream's schemas, as anybody can install them:
[workloads.yaml](../test/conformance/workloads.yaml). The tests' users are let in by a ClusterRoleBinding.

`

const typesPreamble = `
With the battery workload-types a workspace has the types themselves, and still no nodes and no controllers. What
has to do with them is run with it, too, and without any definitions; [a list of its own](../test/conformance/rules-types.yaml)
says what.

`

// The headings of the document.
const (
	leftOutHeading = "\n## Left out\n"
	typesHeading   = "\n## With the battery workload-types\n"
)

// table returns the document: what was run and how it ended, and why the rest was not.
func table(specs []spec, plain, types outcome) string {
	var b strings.Builder
	b.WriteString(preamble)
	b.WriteString(summary(specs, plain.verdicts, plain.records))
	b.WriteString("\n## Run\n")
	b.WriteString(results(specs, plain.verdicts, plain.records))
	b.WriteString(leftOutHeading)
	b.WriteString(leftOut(specs, plain.verdicts))
	b.WriteString(typesHeading)
	b.WriteString(typesPreamble)
	b.WriteString(summary(specs, types.verdicts, types.records))
	b.WriteString(results(specs, types.verdicts, types.records))
	return b.String()
}

// results lists what was run, by file.
func results(specs []spec, verdicts map[string]string, records map[string]record) string {
	var b strings.Builder
	file := ""
	for _, s := range specs {
		if verdicts[s.Name] != "" {
			continue
		}
		if s.File != file {
			file = s.File
			fmt.Fprintf(&b, "\n### %s\n\n| Test | | Result |\n|---|---|---|\n", file)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", escaped(s.Name), mark(s), result(s, records))
	}
	return b.String()
}

// summary counts.
func summary(specs []spec, verdicts map[string]string, records map[string]record) string {
	type count struct{ conformance, other int }
	counts := map[string]count{}
	for _, s := range specs {
		key := result(s, records)
		if verdicts[s.Name] != "" {
			key = "left out"
		}
		c := counts[key]
		if s.Conformance {
			c.conformance++
		} else {
			c.other++
		}
		counts[key] = c
	}
	var b strings.Builder
	b.WriteString("| | Conformance tests | other tests |\n|---|---|---|\n")
	for _, key := range []string{"passed", "failed", "left out"} {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", key, counts[key].conformance, counts[key].other)
	}
	return b.String()
}

// leftOut lists by reason, those first that concern the most tests.
func leftOut(specs []spec, verdicts map[string]string) string {
	byReason := map[string][]spec{}
	for _, s := range specs {
		if reason := verdicts[s.Name]; reason != "" {
			byReason[reason] = append(byReason[reason], s)
		}
	}
	reasons := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(len(byReason[b])-len(byReason[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	for _, reason := range reasons {
		fmt.Fprintf(&b, "\n### %s\n\n| Test | |\n|---|---|\n", strings.ToUpper(reason[:1])+reason[1:])
		for _, s := range byReason[reason] {
			fmt.Fprintf(&b, "| %s | %s |\n", escaped(s.Name), mark(s))
		}
	}
	return b.String()
}

func result(s spec, records map[string]record) string {
	if records[s.Name].Passed {
		return "passed"
	}
	return "failed"
}

func mark(s spec) string {
	if s.Conformance {
		return "●"
	}
	return ""
}

// escaped returns a name as the cell of a table shows it, without what the mark says.
func escaped(name string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", " [Conformance]", "").Replace(name)
}

// TestDocument: the document is written by a run of some minutes, so that it is easily
// forgotten when upstream or the rules have moved.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	plain, types, _ := strings.Cut(string(data), typesHeading)
	run, omitted, _ := strings.Cut(plain, leftOutHeading)
	says := func(section string, s spec) bool { return strings.Contains(section, "| "+escaped(s.Name)+" |") }
	verdicts, err := judge(all, rules(t, rulesFile))
	if err != nil {
		t.Fatal(err)
	}
	typesVerdicts, err := judge(all, rules(t, typesRulesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		section := run
		if verdicts[s.Name] != "" {
			section = omitted
		}
		if !says(section, s) || says(types, s) != (typesVerdicts[s.Name] == "") {
			t.Errorf("docs/conformance.md does not say so of %q: run make test-conformance", s.Name)
		}
	}
}
