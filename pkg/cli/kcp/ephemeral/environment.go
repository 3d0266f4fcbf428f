package ephemeral

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// The values of --print.
const (
	printEnv    = "env"
	printDotenv = "dotenv"
	printPath   = "path"
	printJSON   = "json"
)

var prints = []string{printEnv, printDotenv, printPath, printJSON}

const kubeconfigVariable = "KUBECONFIG"

// variable is one of the environment of the command.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// environment is what the command finds the control plane by, in the order in which it is
// printed.
type environment []variable

// environmentOf returns the variables that lead to the plane.
func environmentOf(p *plane) environment {
	return environment{
		{kubeconfigVariable, p.kubeconfig},
		{"KCP_URL", p.server.URL()},
		{"KCP_ROOT_DIRECTORY", p.server.RootDirectory},
		{"KCP_WORKSPACE", p.options.workspace.String()},
		{"KCP_RUN_ID", p.id},
		// Suites of controller-runtime then start no control plane of their own.
		{"USE_EXISTING_CLUSTER", "true"},
	}
}

// environmentOfCommand adds what only somebody who ends before the plane may use: the next
// server at this port is another one, and kubectl would take what it has kept for its own.
func environmentOfCommand(p *plane) environment {
	return append(environmentOf(p), variable{"KUBECACHEDIR", filepath.Join(p.server.RootDirectory, "kubectl-cache")})
}

// over returns the variables of a process with these in place of those of the same name.
func (e environment) over(process []string) []string {
	merged := make([]string, 0, len(process)+len(e))
	for _, entry := range process {
		name, _, _ := strings.Cut(entry, "=")
		if e.get(name) == "" {
			merged = append(merged, entry)
		}
	}
	for _, v := range e {
		merged = append(merged, v.Name+"="+v.Value)
	}
	return merged
}

func (e environment) get(name string) string {
	for _, v := range e {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// print writes the variables in a form of --print.
func (e environment) print(w io.Writer, form string) error {
	var text strings.Builder
	switch form {
	case printPath:
		fmt.Fprintln(&text, e.get(kubeconfigVariable))
	case printJSON:
		document := map[string]string{}
		for _, v := range e {
			document[v.Name] = v.Value
		}
		encoded, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s\n", encoded)
	default:
		for _, v := range e {
			if form == printDotenv {
				fmt.Fprintf(&text, "%s=%s\n", v.Name, v.Value)
			} else {
				fmt.Fprintf(&text, "export %s=%s\n", v.Name, quote(v.Value))
			}
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// quote returns s as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
