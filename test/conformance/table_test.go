package conformance

import (
	"fmt"
	"strings"
)

func table(specs []spec, verdicts map[string]string, outcomes map[string]outcome) string {
	var b strings.Builder
	for _, s := range specs {
		fmt.Fprintln(&b, s.Name, verdicts[s.Name], outcomes[s.Name].passed)
	}
	return b.String()
}
