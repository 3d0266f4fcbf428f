package start

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/server/options"
)

// summary is what there is to say about a server that is ready.
type summary struct {
	info    version.Info
	elapsed time.Duration
	url     string
	// root is the root directory as it was typed, isNew says that it was not used
	// before.
	root  string
	isNew bool
	// kubeconfig is the absolute path of the kubeconfig for admins, empty without one;
	// directory is the one the shell is in.
	kubeconfig, directory string
	// log is the path of the log file as people would type it.
	log string
	// detached says that ctrl-c does not reach the server, inMemory that what is in it goes
	// with it.
	detached, inMemory bool
}

func (o *Options) summary(server Server, claim *launch.Claim) summary {
	completed := claim.Prepared.Completed
	s := summary{
		info:    o.info,
		elapsed: o.now().Sub(o.began),
		url:     server.URL(),
		root:    completed.RootDirectoryAsGiven,
		isNew:   claim.NewDirectory(),
		log:     logPath(completed.RootDirectoryAsGiven),

		detached: o.detached,
		inMemory: completed.Etcd.InMemory,
	}
	if completed.Batteries.Has(options.AdminBattery) {
		s.kubeconfig = completed.Admin.KubeconfigPath
	}
	// Without a working directory paths are shown in full.
	s.directory, _ = os.Getwd()
	return s
}

// String returns the lines that people get to see.
func (s summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s ready in %.2fs      %s      %s\n", s.info, s.elapsed.Seconds(), s.url, s.where())
	if s.kubeconfig != "" {
		fmt.Fprintf(&b, "  export KUBECONFIG=%s\n", quote(belowWorkingDirectory(s.kubeconfig, s.directory)))
		b.WriteString("  kubectl ws tree\n")
	}
	fmt.Fprintf(&b, "%s stops it, %s       log: %s\n", s.stop(), s.remains(), s.log)
	return b.String()
}

// stop is what stops the server.
func (s summary) stop() string {
	switch {
	case !s.detached:
		return "ctrl-c"
	case s.root == options.NewOptions().RootDirectory:
		return "kcp stop"
	default:
		return "kcp stop --root-directory " + quote(s.root)
	}
}

// remains is what there is of workspaces when the server has stopped.
func (s summary) remains() string {
	if s.inMemory {
		return "your workspaces go with it"
	}
	return "your workspaces stay in " + s.root
}

func (s summary) where() string {
	if s.isNew {
		return s.root + " (new)"
	}
	return s.root
}

// belowWorkingDirectory returns path in the form $PWD/… if it is in the working
// directory: shorter, and still right after cd if the shell has expanded it.
func belowWorkingDirectory(path, directory string) string {
	if directory == "" {
		return path
	}
	relative, err := filepath.Rel(directory, path)
	if err != nil || !filepath.IsLocal(relative) {
		return path
	}
	return "$PWD/" + filepath.ToSlash(relative)
}

// harmless are the characters beside letters and digits that no shell cares about.
// "$" is among them, for $PWD.
const harmless = "$/._-+:,@%="

func isHarmless(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(harmless, r)
}

// quote returns s as a shell takes it for one word.
func quote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !isHarmless(r) }) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}

func join(words []string) string { return strings.Join(words, ", ") }
