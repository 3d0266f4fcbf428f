package setup

import (
	"path/filepath"
	"slices"
	"strings"
)

// linksFor returns the names of the links that make a program all of plugins, which are
// given by their words behind "kubectl": one that kubectl completes each of them by, and
// one that runs those which extend "kubectl create", because kubectl looks for these by
// a name that krew does not give them.
func linksFor(plugins []string) []string {
	var names []string
	for _, plugin := range plugins {
		if strings.HasPrefix(plugin, "create-") {
			names = append(names, "kubectl-"+plugin)
		}
		names = append(names, "kubectl_complete-"+strings.ReplaceAll(plugin, "-", "_"))
	}
	slices.Sort(names)
	return names
}

// state is what stands where a link is to be.
type state int

const (
	// absent: nothing is there.
	absent state = iota
	// linked: it leads to the program already.
	linked
	// stale: a link that an earlier setup made, to a program that is somewhere else now
	// or is gone.
	stale
	// own: the plugin that the link would stand in for, as who builds them all has it.
	own
	// foreign: something else, which is not ours to touch.
	foreign
)

// link is a name, and what stands there.
type link struct {
	file  string
	state state
}

// action is what is done about a link.
type action struct {
	file string
	// remove and create say what is done; with neither, why says what is left as it is.
	remove, create bool
	why            string
}

// plan decides what to do for links to be there, or gone.
func plan(links []link, uninstall bool) []action {
	var actions []action
	for _, l := range links {
		a := action{file: l.file}
		switch {
		case l.state == own:
			a.why = "the plugin itself, left as it is"
		case l.state == foreign:
			a.why = "another program, left as it is"
		case uninstall && l.state == absent:
			continue
		case uninstall:
			a.remove = true
		case l.state == linked:
			a.why = "there already"
		default:
			a.remove, a.create = l.state == stale, true
		}
		actions = append(actions, a)
	}
	return actions
}

// describe says what an action does, or would do.
func (a action) describe(target string, dryRun bool) string {
	var verb string
	switch {
	case a.create:
		verb = "linked to " + target
	case a.remove:
		verb = "removed"
	default:
		return a.file + ": " + a.why
	}
	if dryRun {
		verb = "would be " + verb
	}
	return a.file + ": " + verb
}

// targetFrom returns how a link in folder names the program: by its name alone if it is
// there, too, so that the folder can be moved.
func targetFrom(folder, program string) string {
	if filepath.Dir(program) == filepath.Clean(folder) {
		return filepath.Base(program)
	}
	return program
}

// activation says what each shell needs for kubectl to be asked at all.
var activation = map[string]string{
	"bash":       "in ~/.bashrc: source <(kubectl completion bash)",
	"zsh":        "in ~/.zshrc, behind compinit: source <(kubectl completion zsh)",
	"fish":       "once: kubectl completion fish > ~/.config/fish/completions/kubectl.fish",
	"powershell": "in $PROFILE: kubectl completion powershell | Out-String | Invoke-Expression",
}

// shellOf returns the shell that a path such as that in the environment variable SHELL
// names, "" if it is none that kubectl knows.
func shellOf(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if name == "pwsh" {
		name = "powershell"
	}
	if _, ok := activation[name]; ok {
		return name
	}
	return ""
}
