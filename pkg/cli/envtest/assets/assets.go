// Package assets is the verb "kcp envtest-assets": it lays out the programs that
// controller-runtime's envtest starts.
//
//  1. kube-apiserver and etcd are links to the program that runs, or copies of it, which
//     knows what it is to be by its name. kubectl is the one that came with kcp, or one that
//     is installed: in kcp itself it would be 42 MB, which most never run.
//  2. Nothing is downloaded, and nothing that is not a link is replaced: the directory may
//     hold the programs of Kubernetes.
//  3. The output is the directory, as an absolute path, and nothing else.
package assets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

const kubectl = "kubectl"

// Options are what can be asked of the verb.
type Options struct {
	// Directory is where the programs go. It is made if need be.
	Directory string
	// Programs are the names under which the program that runs is started.
	Programs []string
	// Kubectl is the kubectl to link to. If empty it is the one that came with the program
	// that runs, or else that of the PATH.
	Kubectl string
	// Copy makes copies in place of links.
	Copy bool

	streams run.Streams
	// executable returns the path of the program that runs, and look that of a program of
	// the PATH.
	executable func() (string, error)
	look       func(name string) (string, error)
}

// New returns the command. programs are the names under which the program that runs is
// started as another one.
func New(streams run.Streams, programs ...string) *cobra.Command {
	o := &Options{Programs: programs, streams: streams, executable: os.Executable, look: exec.LookPath}
	cmd := &cobra.Command{
		Use:   "envtest-assets <directory>",
		Short: "Lay out kube-apiserver, etcd and kubectl for tests with envtest",
		Long: "Lays out the programs that tests with controller-runtime's envtest start: kcp in place of\n" +
			"kube-apiserver and etcd, and the kubectl that came with it. Nothing is downloaded.\n\n" +
			"The directory is printed, for the variable in which envtest looks for it. The programs are\n" +
			"links to this one, so they change and go with it; --copy makes them independent.\n\n" +
			"Exit codes: 0 laid out, 1 any error.",
		Example: "  KUBEBUILDER_ASSETS=$(kcp envtest-assets bin/envtest) go test ./...",
		Args:    run.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Directory = args[0]; o.Directory == "" {
				// As of a variable that is not set: the working directory is not meant.
				return run.Misuse(cmd, errors.New("the name of the directory is empty"))
			}
			return o.Run()
		},
	}
	cmd.Flags().StringVar(&o.Kubectl, kubectl, "", "The kubectl to link to. (default the one that came with kcp, or else the one in the PATH)")
	cmd.Flags().BoolVar(&o.Copy, "copy", false, "Copy the programs in place of linking to them.")
	return cmd
}

// Run lays out the programs and prints the directory.
func (o *Options) Run() error {
	directory, err := filepath.Abs(o.Directory)
	if err != nil {
		return fmt.Errorf("directory %s: %w", o.Directory, err)
	}
	self, err := o.executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	client, err := o.kubectl(self)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // because programs in it are for everybody to run
		return fmt.Errorf("making the directory: %w", err)
	}
	for _, name := range o.Programs {
		if err := o.place(self, filepath.Join(directory, program(name))); err != nil {
			return err
		}
	}
	if err := o.place(client, filepath.Join(directory, program(kubectl))); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.streams.Out, directory)
	return err
}

// shipped is where a kubectl comes with a program, from the folder of that program on: in
// an archive that has its programs in bin, and beside what make has built.
var shipped = []string{filepath.Join("..", "libexec", "kcp"), "libexec"}

// kubectl returns the path of the kubectl to link to, self being the program that runs.
func (o *Options) kubectl(self string) (string, error) {
	name := o.Kubectl
	if name == "" {
		name = kubectl
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		for _, folder := range shipped {
			at := filepath.Join(filepath.Dir(self), folder, program(kubectl))
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				return at, nil
			}
		}
	}
	found, err := o.look(name)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return "", run.Hint(fmt.Errorf("there is no kubectl to link to: %w", err),
			"install one (https://kubernetes.io/docs/tasks/tools), or name it with --kubectl")
	}
	return found, nil
}

// place puts the program at path to where it is looked for.
func (o *Options) place(path, at string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("finding %s: %w", path, err)
	}
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink == 0 && !o.isCopy(path, info):
		return run.Hint(fmt.Errorf("%s is there already, and not from here", at), "remove it, or name another directory")
	default:
		if err := os.Remove(at); err != nil {
			return err
		}
	}
	if o.Copy || runtime.GOOS == "windows" {
		return copyProgram(path, at)
	}
	return os.Symlink(path, at)
}

// isCopy says whether a file looks like a copy of the program at path that an earlier run
// has made: one that is to be copied again is of no worth.
func (o *Options) isCopy(path string, at fs.FileInfo) bool {
	source, err := os.Stat(path)
	return err == nil && source.Size() == at.Size() && at.Mode().IsRegular()
}

func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755) //nolint:gosec // because it is a program
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

// program returns the file name of a program.
func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
