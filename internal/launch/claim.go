package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/server/options"
)

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
	claim := &Claim{Prepared: &options.Prepared{Completed: completed}}
	if err := claim.take(ctx); err != nil {
		// What cannot be given back goes with the process.
		_ = claim.Release()
		return nil, err
	}
	return claim, nil
}

func (c *Claim) take(ctx context.Context) error {
	completed, holder := c.Prepared.Completed, thisProcess()
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
		if err := c.directory.Claim(holder.Version); err != nil {
			return err
		}
		holder.URL = c.Prepared.URLs.Base
		if err := c.directory.Describe(holder); err != nil {
			return err
		}
	}
	if completed.Etcd.InMemory {
		if c.scratch, err = rootdir.NewScratch(); err != nil {
			return err
		}
		completed.Etcd.Directory = c.scratch.Path()
	}
	c.Prepared.Certificate, err = certificate(completed, c.Prepared.URLs)
	return err
}

func thisProcess() rootdir.Holder {
	return rootdir.Holder{PID: os.Getpid(), Started: time.Now(), Version: version.Get().Version}
}

// NewDirectory says whether no server has used the root directory before.
func (c *Claim) NewDirectory() bool { return c.directory != nil && c.directory.New() }

// Release gives everything back. Call it when the server has stopped.
func (c *Claim) Release() error {
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
		if err := c.directory.Close(); err != nil {
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
