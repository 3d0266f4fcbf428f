package diagnosis

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Remark stands between a next step and what it does.
const Remark = "  # "

// Step returns a next step with a remark about what it does.
func Step(command, format string, args ...any) string {
	return command + Remark + fmt.Sprintf(format, args...)
}

// Split returns the command and the remark of a next step.
func Split(step string) (command, remark string) {
	command, remark, _ = strings.Cut(step, Remark)
	return command, remark
}

// Commands writes commands down for somebody who is in a workspace.
type Commands struct {
	// Here is where the user is; empty says that this is not known.
	Here logicalcluster.Path
	// URL returns the address of a workspace.
	URL func(logicalcluster.Path) string
}

// Kubectl returns a kubectl command for the workspace in.
func (c Commands) Kubectl(in logicalcluster.Path, args ...string) string {
	if in != c.Here {
		args = append(args, "--server="+c.URL(in))
	}
	return "kubectl " + quoteAll(args)
}

// Plugin returns a command of one of our plugins, which take the workspace by name.
func (c Commands) Plugin(in logicalcluster.Path, args ...string) string {
	if in != c.Here {
		args = append(args, "-w", ":"+in.String())
	}
	return "kubectl " + quoteAll(args)
}

// Elsewhere returns c for commands that somebody else is to run, who may be in any workspace.
func (c Commands) Elsewhere() Commands {
	c.Here = logicalcluster.Path{}
	return c
}

// harmless is what a shell takes as it is.
var harmless = regexp.MustCompile(`^[-A-Za-z0-9_@%+=:,./]+$`)

func quoteAll(args []string) string {
	quoted := make([]string, 0, len(args))
	for _, arg := range args {
		quoted = append(quoted, quote(arg))
	}
	return strings.Join(quoted, " ")
}

// quote returns a word as a shell takes it.
func quote(word string) string {
	if harmless.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// RemoveEntry returns a JSON patch that removes the entry at an index of a list of
// strings, if it is still the one that was seen there.
func RemoveEntry(pointer string, index int, value string) string {
	return fmt.Sprintf(`[{"op":"test","path":"%[1]s/%[2]d","value":%[3]q},{"op":"remove","path":"%[1]s/%[2]d"}]`, pointer, index, value)
}
