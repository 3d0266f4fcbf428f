package start

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/features"
	"github.com/forkless/kcp/internal/launch"
)

// loggerName begins the name of each logger of this program.
const loggerName = "kcp"

// view is where people and programs see how the server is doing.
type view interface {
	// warn says what should be known before the server is ready.
	warn(message string)
	// ready says that the server is.
	ready(summary)
	// stopping says that the server was told to stop.
	stopping()
	// idle says that the server has stopped because nobody has used it for so long.
	idle(time.Duration)
	// close puts the log of the process back to where it went before.
	close()
}

// openView returns the view that fits the terminal and the flags, and sends the log of
// the process there.
func (o *Options) openView(claim *launch.Claim) (view, error) {
	logging, root := claim.Prepared.Logging, claim.Prepared.RootDirectory
	level := int(logging.Configuration.Verbosity)
	if o.detached {
		return o.openDetached(root, logging)
	}
	if !logging.Quiet {
		// The log of Kubernetes components, with everything that was asked for.
		if err := logsapi.ValidateAndApply(logging.Configuration, features.Gates()); err != nil {
			return nil, fmt.Errorf("setting up the log: %w", err)
		}
		return logView{restore: klog.Flush}, nil
	}
	if !o.terminal || logging.Classic || root == "" {
		return logView{restore: redirect(quiet{o.streams.ErrOut}, level)}, nil
	}
	file, err := openLog(filepath.Join(root, launch.LogFile))
	if err != nil {
		return nil, err
	}
	restoreLog := redirect(quiet{io.MultiWriter(file, newAlarm(o.streams.ErrOut, o.now))}, level)
	return terminalView{
		out:    o.streams.Out,
		errOut: o.streams.ErrOut,
		restore: func() {
			restoreLog()
			_ = file.Close()
		},
	}, nil
}

// logView says everything in the log.
type logView struct{ restore func() }

func (v logView) logger() klog.Logger { return klog.Background().WithName(loggerName) }

func (v logView) warn(message string) { klog.Warning(message) }

func (v logView) ready(s summary) {
	v.logger().Info("Ready", "url", s.url, "rootDirectory", s.root, "version", s.info.Version,
		"kubernetes", s.info.Kubernetes, "seconds", fmt.Sprintf("%.2f", s.elapsed.Seconds()))
}

func (v logView) stopping() { v.logger().Info("Stopping") }

func (v logView) idle(limit time.Duration) {
	v.logger().Info("Stopped, for nobody has used the server", "idleStop", limit)
}

func (v logView) close() { v.restore() }

// terminalView is for people.
type terminalView struct {
	out, errOut io.Writer
	restore     func()
}

func (v terminalView) warn(message string) { v.say(v.errOut, "warning: "+message+"\n") }

func (v terminalView) ready(s summary) { v.say(v.out, s.String()) }

// stopping begins a line of its own, because terminals show ctrl-c as ^C.
func (v terminalView) stopping() { v.say(v.errOut, "\nstopping; ctrl-c again stops at once\n") }

func (v terminalView) idle(limit time.Duration) {
	v.say(v.errOut, fmt.Sprintf("stopped: nobody has used the server for %s\n", limit))
}

func (v terminalView) close() { v.restore() }

// say writes to a terminal. If that has gone away there is nobody to tell.
func (v terminalView) say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// maxLogSize is how large the log may be at a start before a new one is begun.
const maxLogSize = 10 << 20

// logPath returns where the log is, as people would type it.
func logPath(root string) string { return filepath.ToSlash(filepath.Join(root, launch.LogFile)) }

// openLog opens the log to append to it. One that has grown large is put aside first.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogSize {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("putting the old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return file, nil
}
