// Package setup is the command "kubectl kcp setup": links beside the plugin by which
// kubectl finds what it cannot find by the plugin's own name, namely who completes its
// arguments, and who extends "kubectl create". krew installs one file for a plugin, so
// these links are missing after it.
//
// It touches links of its own only, and says what it leaves alone.
package setup

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/onpath"
	"github.com/forkless/kcp/pkg/cli/run"
)

// plugin is the name of the program that the links lead to.
const plugin = "kubectl-kcp"

// Options are what the command is called with.
type Options struct {
	// BinDir is the folder of the links, "" for that of the plugin.
	BinDir string
	// Shell is whose needs are printed, "" for the one in the environment.
	Shell string
	// Uninstall removes the links.
	Uninstall bool
	// DryRun says what would be done.
	DryRun bool

	streams run.Streams
	// plugins are what the program is, by the words behind "kubectl".
	plugins []string
	// executable returns the file of the running program.
	executable func() (string, error)
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.BinDir, "bin-dir", o.BinDir, "Folder for the links, instead of the one that the plugin is in")
	flags.StringVar(&o.Shell, "shell", o.Shell, "Shell to say what it needs: bash, zsh, fish or powershell, instead of the one in $SHELL")
	flags.BoolVar(&o.Uninstall, "uninstall", o.Uninstall, "Remove the links")
	flags.BoolVar(&o.DryRun, "dry-run", o.DryRun, "Say what would be done, and do nothing")
}

// Validate finds a shell that kubectl does not know.
func (o *Options) Validate() error {
	if o.Shell == "" || activation[o.Shell] != "" {
		return nil
	}
	return fmt.Errorf("unknown shell %q, known are %s", o.Shell, strings.Join(slices.Sorted(maps.Keys(activation)), ", "))
}

// Run makes the links.
func (o *Options) Run() error {
	program, err := o.program()
	if err != nil {
		return err
	}
	folder := cmp.Or(o.BinDir, filepath.Dir(program))
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	target := targetFrom(folder, program)
	for _, a := range plan(look(folder, program, linksFor(o.plugins)), o.Uninstall) {
		if err := o.apply(a, target); err != nil {
			return run.Hint(err, "--bin-dir names a folder on PATH that you may write to")
		}
		_, _ = fmt.Fprintln(o.streams.Out, a.describe(target, o.DryRun))
	}
	if !o.Uninstall {
		o.advise(folder)
	}
	return nil
}

// program returns the file that links are to lead to: where the plugin is found on PATH,
// if that is the running one. What krew puts there stays when a version goes.
func (o *Options) program() (string, error) {
	running, err := o.executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(running); err == nil {
		running = resolved
	}
	for _, found := range onpath.Find(plugin, onpath.Folders()) {
		if found.Target == running {
			return filepath.Abs(found.File)
		}
	}
	return filepath.Abs(running)
}

// look returns what stands where the links are to be.
func look(folder, program string, names []string) []link {
	var links []link
	for _, name := range names {
		file := filepath.Join(folder, onpath.FileName(name))
		links = append(links, link{file: file, state: stateOf(file, program)})
	}
	return links
}

func stateOf(file, program string) state {
	info, err := os.Lstat(file)
	if err != nil {
		return absent
	}
	if there, err := os.Stat(file); err == nil {
		if running, err := os.Stat(program); err == nil && os.SameFile(there, running) {
			return linked
		}
	}
	if isPlugin(file) {
		return own
	}
	if info.Mode()&os.ModeSymlink == 0 {
		return foreign
	}
	if target, err := os.Readlink(file); err == nil && filepath.Base(target) == filepath.Base(program) {
		return stale
	}
	return foreign
}

// isPlugin says whether file is made of the command of that name beside ours.
func isPlugin(file string) bool {
	running, ok := debug.ReadBuildInfo()
	info, err := buildinfo.ReadFile(file)
	return ok && err == nil && running.Main.Path != "" &&
		info.Path == running.Main.Path+"/cmd/"+strings.TrimSuffix(filepath.Base(file), ".exe")
}

func (o *Options) apply(a action, target string) error {
	if o.DryRun {
		return nil
	}
	if a.remove {
		if err := os.Remove(a.file); err != nil {
			return err
		}
	}
	if a.create {
		return makeLink(target, a.file)
	}
	return nil
}

// advise says what is still missing for the links to be of use.
func (o *Options) advise(folder string) {
	folders := onpath.Folders()
	if !slices.Contains(folders, folder) {
		o.say("warning: %s is not on PATH, so kubectl does not find what is in it", folder)
	}
	for _, name := range append(linksFor(o.plugins), plugin, "kubectl-ws") {
		report(o.streams.ErrOut, onpath.Find(name, append(folders, folder)))
	}
	shell := cmp.Or(o.Shell, shellOf(os.Getenv("SHELL")))
	if shell == "" {
		o.say("note: --shell says what a shell needs for kubectl to complete anything")
		return
	}
	o.say("note: %s completes what kubectl does with this, %s", shell, activation[shell])
}

func (o *Options) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.streams.ErrOut, format+"\n", args...)
}

// report names the programs that another one of the same name keeps from being found.
func report(w io.Writer, found []onpath.Program) {
	for i, p := range found {
		if i > 0 && p.Target != found[0].Target {
			_, _ = fmt.Fprintf(w, "warning: %s shadows %s\n", found[0].File, p.File)
		}
	}
}

// New returns the command. plugins are what the program is, by the words behind "kubectl".
func New(streams run.Streams, plugins []string) *cobra.Command {
	o := &Options{streams: streams, plugins: plugins, executable: os.Executable}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Make kubectl find completion and what extends kubectl create",
		Long: `Put links beside the plugin: those by which kubectl asks it to complete arguments, and
those by which it finds "kubectl create workspace". krew installs one file for a plugin,
so they are missing after it. What stands there already and is no link of ours is left
alone.

It says, too, which programs on PATH are shadowed by others of the same name, and what
your shell needs to ask kubectl at all. No other file is changed.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp setup
  kubectl kcp setup --bin-dir ~/.local/bin
  kubectl kcp setup --uninstall`,
		Args:              run.Args(cobra.NoArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run()
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
