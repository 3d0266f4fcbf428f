package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/archive/place"
	"github.com/forkless/kcp/internal/inprocess"
	"github.com/forkless/kcp/internal/memory"
	"github.com/forkless/kcp/internal/registry"
	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/watcher"
)

// The files in the directory of a run beside those that each server has.
const (
	kubeconfigFile = "run.kubeconfig"
	tokensFile     = "tokens.csv"
	policyFile     = "audit-policy.yaml"
)

// stopPatience is how long the server may take to stop when nobody wants its data. It takes
// milliseconds unless somebody holds on to a request.
const stopPatience = 3 * time.Second

// plane is one control plane, from its directory to its end.
type plane struct {
	options   *Options
	id        string
	watcher   *watcher.Watcher
	directory *rootdir.Scratch
	// log is where the log of the process goes.
	log *logFile
	// server, kubeconfig and what follows are there when the server is ready.
	server     *inprocess.Server
	kubeconfig string
	config     *rest.Config
	client     *client.Client
	unregister func() error
	// base is the address of the server.
	base string
}

// open starts the watcher and makes the directory.
func open(o *Options, in *input) (*plane, error) {
	w, err := watcher.Start()
	if err != nil {
		return nil, err
	}
	p := &plane{options: o, id: registry.NewID(), watcher: w}
	if p.directory, err = rootdir.NewTemporary(); err != nil {
		w.Release()
		return nil, err
	}
	if p.log, err = openLog(p.path(logName), in.server.Logging); err != nil {
		_, closeErr := p.close(false)
		return nil, errors.Join(err, closeErr)
	}
	return p, nil
}

// path returns the path of a file in the directory.
func (p *plane) path(name string) string { return filepath.Join(p.directory.Path(), name) }

// start starts the server and writes the kubeconfig.
func (p *plane) start(ctx context.Context) (err error) {
	flags, err := p.flags()
	if err != nil {
		return err
	}
	if p.server, err = inprocess.StartFrom(ctx, p.options.Snapshot, p.directory.Path(), flags...); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	p.base = p.server.URL()
	klog.FromContext(ctx).WithName("kcp").Info("Ready", "url", p.base, "rootDirectory", p.directory.Path(), "version", version.Get().Version)
	p.kubeconfig = p.path(kubeconfigFile)
	p.config, err = writeKubeconfig(p.kubeconfig, p.server.Kubeconfig, p.options.workspace, p.options.users)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if p.client, err = client.New(p.config, p.base, p.log); err != nil {
		return err
	}
	if err = p.register(); err != nil && !p.options.detached {
		// "kcp stop" cannot end it then, but its command and its parent can.
		p.options.voice().say("warning: %v", err)
		return nil
	}
	return err
}

// register makes the server known to "kcp status" and "kcp stop".
func (p *plane) register() (err error) {
	p.unregister, err = registry.Register(registry.Entry{
		ID: p.id, PID: os.Getpid(), RootDirectory: p.directory.Path(), URL: p.base,
		Version: version.Get().Version, Started: p.options.began,
	})
	return err
}

// flags returns the flags of the server, and writes the files that they name.
func (p *plane) flags() ([]string, error) {
	flags := []string{"--in-memory"}
	if len(p.options.users) > 0 {
		var tokens strings.Builder
		if err := writeTokens(&tokens, p.options.users); err != nil {
			return nil, err
		}
		if err := os.WriteFile(p.path(tokensFile), []byte(tokens.String()), 0o600); err != nil {
			return nil, err
		}
		flags = append(flags, "--token-auth-file="+p.path(tokensFile))
	}
	if p.options.audits() {
		if err := os.WriteFile(p.path(policyFile), []byte(auditPolicy), 0o600); err != nil {
			return nil, err
		}
		flags = append(flags, "--audit-policy-file="+p.path(policyFile), "--audit-log-path="+p.path(auditFile))
	}
	return append(flags, p.options.ServerArgs...), nil
}

// rest keeps the server small while nothing happens for long.
func (p *plane) rest(ctx context.Context) {
	memory.KeepDense()
	go memory.ReleaseAtRest(ctx)
}

// close ends everything, and writes the archive if it is wanted and save is set. It returns
// what it has left behind.
func (p *plane) close(save bool) (left []string, err error) {
	var errs []error
	if p.unregister != nil {
		errs = append(errs, p.unregister())
	}
	stopped := true
	if p.server != nil {
		p.hangUp()
		if save && p.options.Save != "" {
			if err = p.save(); err == nil {
				left = append(left, "saved "+p.options.Save)
			}
		} else {
			stopped, err = p.stop()
		}
		errs = append(errs, err)
	}
	if p.log != nil {
		errs = append(errs, p.log.Close())
	}
	if err := p.directory.Remove(); err != nil {
		errs = append(errs, fmt.Errorf("removing %s: %w", p.directory.Path(), err))
	} else if stopped {
		p.watcher.Release()
	}
	// What is left now is for the watcher, when this process has ended.
	return left, errors.Join(errs...)
}

// save stops the server and writes the archive. Should this process be killed meanwhile, the
// watcher removes what there is of it.
func (p *plane) save() error {
	if at, err := place.Of(p.options.Save); err == nil {
		p.watcher.Writing(at)
	}
	return p.server.StopAndSave(p.options.Save)
}

// hangUp closes the connections to the server, which would wait a second for them.
func (p *plane) hangUp() {
	if p.config == nil {
		return
	}
	if transport, err := rest.TransportFor(p.config); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
}

// stop stops the server, if that does not take long.
func (p *plane) stop() (stopped bool, err error) {
	done := make(chan error, 1)
	go func() { done <- p.server.Stop() }()
	select {
	case err := <-done:
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return true, err
	case <-time.After(stopPatience):
		return false, nil
	}
}
