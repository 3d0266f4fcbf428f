package conformance

import (
	"fmt"
	"strings"
)

func table(specs []spec, verdicts map[string]string, records map[string]record) string {
	var b strings.Builder
	for _, s := range specs {
		fmt.Fprintln(&b, s.Name, verdicts[s.Name], records[s.Name].Passed)
	}
	return b.String()
}
