package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/forkless/kcp/internal/archive"
	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/servingcert"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/server/options"
)

// LogFile is the name of the log in a root directory, where there is one.
const LogFile = "kcp.log"

// Claim is what was taken hold of for one server.
type Claim struct {
	// Prepared is what the server is made from. Its listener is closed by Release at
	// the latest.
	Prepared *options.Prepared

	// directory is nil without a root directory, scratch unless the data is in memory.
	directory *rootdir.Directory
	scratch   *rootdir.Scratch
}

// Take takes hold of what a server with the completed options needs. Errors may be of
// the types *rootdir.InUseError, *rootdir.NewerLayoutError and *PortInUseError.
func Take(ctx context.Context, completed *options.Completed) (*Claim, error) {
	return TakeFrom(ctx, completed, "")
}

// TakeFrom is Take for a server that begins with the state in an archive, unless that is
// empty. It has to be one with an embedded etcd that has no data yet. Errors may be of the
// types that archive.Restore names, too.
func TakeFrom(ctx context.Context, completed *options.Completed, archived string) (*Claim, error) {
	claim := &Claim{Prepared: &options.Prepared{Completed: completed}}
	if err := claim.take(ctx, archived); err != nil {
		// What cannot be given back goes with the process.
		_ = claim.Abandon()
		return nil, err
	}
	return claim, nil
}

func (c *Claim) take(ctx context.Context, archived string) error {
	completed, holder := c.Prepared.Completed, thisProcess()
	if err := checkAuditLog(completed.Audit.LogOptions.Path); err != nil {
		return err
	}
	if completed.RootDirectory != "" {
		directory, err := rootdir.Open(completed.RootDirectory, completed.RootDirectoryAsGiven, holder)
		if err != nil {
			return err
		}
		c.directory = directory
	}

	listener, err := listen(ctx, completed)
	if err != nil {
		return err
	}
	c.Prepared.Listener = listener
	c.Prepared.URLs = completed.URLsAt(port(listener))

	// From here on there is something to keep.
	if c.directory != nil {
		if err := c.keep(holder); err != nil {
			return err
		}
	}
	if completed.Etcd.InMemory {
		if err := c.moveToMemory(); err != nil {
			return err
		}
	}
	if archived != "" {
		state, err := c.state()
		if err != nil {
			return err
		}
		if err := archive.Restore(archived, state); err != nil {
			return err
		}
	}
	c.Prepared.Certificate, err = certificate(completed, c.Prepared.URLs)
	return err
}

// keep marks the root directory as used, unless all that is going to be kept is in memory,
// and says in it where the server can be reached.
func (c *Claim) keep(holder rootdir.Holder) error {
	completed := c.Prepared.Completed
	if !completed.Etcd.InMemory {
		if err := c.directory.Claim(holder.Version); err != nil {
			return err
		}
	}
	holder.URL = c.Prepared.URLs.Base
	if completed.Batteries.Has(options.AdminBattery) {
		holder.Kubeconfig = completed.Admin.KubeconfigPath
	}
	return c.directory.Describe(holder)
}

// moveToMemory has the server keep in memory what would otherwise be in its root
// directory: the database, and what is of no use without it. The kubeconfig stays, for
// people are to find it.
func (c *Claim) moveToMemory() (err error) {
	if c.scratch, err = rootdir.NewScratch(); err != nil {
		return err
	}
	completed, memory := c.Prepared.Completed, c.scratch.Path()
	completed.Etcd.Directory = filepath.Join(memory, "etcd")
	if completed.Serving.CertDirectory == completed.RootDirectory {
		completed.Serving.CertDirectory = memory
	}
	completed.ServiceAccounts.GeneratedKey = filepath.Join(memory, "sa.key")
	// A server that is not in memory may have made the token of the kubeconfig before, and
	// may do so again.
	if _, err := os.Lstat(completed.Admin.TokenHashPath); errors.Is(err, fs.ErrNotExist) {
		completed.Admin.TokenHashPath = filepath.Join(memory, "token-hash")
	}
	return nil
}

// Save writes the state of the server to an archive. Call it when the server has stopped,
// before Release.
func (c *Claim) Save(file string) error {
	state, err := c.state()
	if err != nil {
		return err
	}
	return archive.Save(file, state)
}

// state is what there is of the server beside its process.
func (c *Claim) state() (archive.State, error) {
	completed := c.Prepared.Completed
	if !completed.Etcd.Embedded {
		return archive.State{}, errors.New("an archive has the state of an embedded etcd: --etcd-servers names another one")
	}
	root := completed.RootDirectory
	if c.scratch != nil {
		root = c.scratch.Path()
	}
	return archive.State{
		RootDirectory: root,
		EtcdDirectory: completed.Etcd.Directory,
		Version:       version.Get().Version,
	}, nil
}

func thisProcess() rootdir.Holder {
	return rootdir.Holder{PID: os.Getpid(), Started: time.Now(), Version: version.Get().Version}
}

// NewDirectory says whether no server has used the root directory before.
func (c *Claim) NewDirectory() bool { return c.directory != nil && c.directory.New() }

// Release gives everything back. Call it when the server has stopped.
func (c *Claim) Release() error {
	return c.release(func() error { return c.directory.Close() })
}

// Abandon is Release for a server that was never ready: a start that fails leaves no
// trace.
func (c *Claim) Abandon() error {
	completed := c.Prepared.Completed
	certificate, key := servingcert.Files(completed.Serving.CertDirectory)
	return c.release(func() error {
		return c.directory.Abandon(
			completed.Etcd.Directory, completed.Admin.KubeconfigPath, completed.Admin.TokenHashPath,
			completed.ServiceAccounts.GeneratedKey, certificate, key, filepath.Join(completed.RootDirectory, LogFile),
		)
	})
}

func (c *Claim) release(letGo func() error) error {
	var errs []error
	if listener := c.Prepared.Listener; listener != nil {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, fmt.Errorf("closing the listener: %w", err))
		}
	}
	if c.scratch != nil {
		if err := c.scratch.Remove(); err != nil {
			errs = append(errs, fmt.Errorf("removing the data in memory: %w", err))
		}
	}
	if c.directory != nil {
		if err := letGo(); err != nil {
			errs = append(errs, fmt.Errorf("letting go of the root directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// listen binds the address of the server.
func listen(ctx context.Context, completed *options.Completed) (net.Listener, error) {
	address := completed.ListenAddress()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, addressInUse):
		return nil, &PortInUseError{
			Address: completed.Address(completed.Serving.Port),
			Owner:   ownerOf(completed.Serving.Port),
		}
	default:
		return nil, fmt.Errorf("listening on %s: %w", address, cause(err))
	}
}

// cause returns the reason in an error of package net, whose text repeats the address.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func port(listener net.Listener) int {
	if address, ok := listener.Addr().(*net.TCPAddr); ok {
		return address.Port
	}
	return 0
}
