package kubeconfig

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	// lockPatience is how long Edit waits for others to finish with a file.
	lockPatience = 5 * time.Second
	// lockPause is about how long it waits between two tries.
	lockPause = 50 * time.Millisecond
)

// Store is the files that make up the kubeconfig.
type Store struct {
	access *clientcmd.PathOptions

	// tries is how often a lock is tried; pause waits between two tries. Tests replace
	// them.
	tries int
	pause func(context.Context) error
}

func newStore(access *clientcmd.PathOptions) *Store {
	return &Store{access: access, tries: int(lockPatience / lockPause), pause: pause}
}

// pause waits a little, not always equally long, so that two who wait for each other
// don't keep step.
func pause(ctx context.Context) error {
	jittered := lockPause/2 + rand.N(lockPause)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(jittered):
		return nil
	}
}

// read returns the merged kubeconfig. References to files are absolute, so that an
// entry can be copied from one kubeconfig file to another.
func (s *Store) read() (*api.Config, error) {
	// A file that the user has named must be there; the usual ones need not.
	if s.access.IsExplicitFile() {
		if _, err := os.Stat(s.access.GetExplicitFile()); err != nil {
			return nil, err
		}
	}
	config, err := s.access.GetStartingConfig()
	if err != nil {
		return nil, err
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, err
	}
	return config, nil
}

// Edit applies change to the kubeconfig and writes what it has changed: clusters, users,
// contexts, the current context and extensions of the kubeconfig as a whole. An error of
// change leaves the files as they are.
func (s *Store) Edit(ctx context.Context, change func(*api.Config) error) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()

	before, err := s.read()
	if err != nil {
		return err
	}
	after := before.DeepCopy()
	if err := change(after); err != nil {
		return err
	}
	return s.write(before, after)
}

// write brings the files from before to after.
func (s *Store) write(before, after *api.Config) error {
	files := partials{}
	for _, k := range kinds {
		if err := k.write(s, before, after, files); err != nil {
			return err
		}
	}
	if before.CurrentContext != after.CurrentContext {
		file, err := files.open(s.access.GetDefaultFilename())
		if err != nil {
			return err
		}
		file.CurrentContext = after.CurrentContext
	}
	if err := s.writeExtensions(before, after, files); err != nil {
		return err
	}
	for _, k := range kinds {
		if err := k.remove(before, after, files); err != nil {
			return err
		}
	}
	return files.replace()
}

// writeExtensions puts changed extensions of the kubeconfig as a whole into the file
// that has them, or else the one for new entries.
func (s *Store) writeExtensions(before, after *api.Config, files partials) error {
	for _, name := range slices.Sorted(maps.Keys(after.Extensions)) {
		if reflect.DeepEqual(before.Extensions[name], after.Extensions[name]) {
			continue
		}
		file, err := files.open(s.ownerOf(name))
		if err != nil {
			return err
		}
		if file.Extensions == nil {
			file.Extensions = map[string]runtime.Object{}
		}
		file.Extensions[name] = after.Extensions[name]
	}
	return nil
}

// ownerOf returns the file that the extension called name is in or goes to. Like other
// entries it is taken from the first file that has it.
func (s *Store) ownerOf(name string) string {
	for _, file := range s.access.GetLoadingPrecedence() {
		if config, err := clientcmd.LoadFromFile(file); err == nil && config.Extensions[name] != nil {
			return file
		}
	}
	return s.access.GetDefaultFilename()
}

// destination returns the file that an entry goes to.
func (s *Store) destination(origin string) string {
	if origin != "" {
		return origin
	}
	return s.access.GetDefaultFilename()
}

// partials are kubeconfig files by name, each with what it alone contains.
type partials map[string]*api.Config

// open returns the file called name as it is on disk, or as it was changed since.
func (p partials) open(name string) (*api.Config, error) {
	if config, ok := p[name]; ok {
		return config, nil
	}
	config, err := clientcmd.LoadFromFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", name, err)
	}
	p[name] = config
	return config, nil
}

// replace writes all files. Those parts of the work that usually fail (no space, no
// permission) are done for all of them before the first one is replaced.
func (p partials) replace() error {
	var prepared []*replacement
	defer func() {
		for _, r := range prepared {
			r.discard()
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(p)) {
		content, err := clientcmd.Write(*p[name])
		if err != nil {
			return fmt.Errorf("encoding the kubeconfig %s: %w", name, err)
		}
		r, err := prepare(name, content)
		if err != nil {
			return fmt.Errorf("writing the kubeconfig: %w", err)
		}
		prepared = append(prepared, r)
	}
	for _, r := range prepared {
		if err := r.commit(); err != nil {
			return fmt.Errorf("writing the kubeconfig: %w", err)
		}
	}
	return nil
}
