package kubeconfig

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kinds are the kinds of entries of a kubeconfig, in the order in which they are written.
var kinds = []interface {
	// write puts those that are new, or have changed, into the files that they belong to.
	write(s *Store, before, after *api.Config, files partials) error
	// remove takes those that are not there after the change out of the files they are in.
	remove(before, after *api.Config, files partials) error
}{
	kind[api.Cluster]{
		in:     func(c *api.Config) map[string]*api.Cluster { return c.Clusters },
		origin: func(c *api.Cluster) string { return c.LocationOfOrigin },
		move: func(c *api.Cluster, file string) error {
			c.LocationOfOrigin = file
			return clientcmd.RelativizeClusterLocalPaths(c)
		},
	},
	kind[api.AuthInfo]{
		in:     func(c *api.Config) map[string]*api.AuthInfo { return c.AuthInfos },
		origin: func(u *api.AuthInfo) string { return u.LocationOfOrigin },
	},
	kind[api.Context]{
		in:     func(c *api.Config) map[string]*api.Context { return c.Contexts },
		origin: func(c *api.Context) string { return c.LocationOfOrigin },
	},
}

// kind is a kind of entries.
type kind[T any] struct {
	// in returns those of a kubeconfig, by name.
	in func(*api.Config) map[string]*T
	// origin returns the file that an entry comes from, empty for a new one.
	origin func(*T) string
	// move changes an entry into one of a file, if there is anything to change.
	move func(entry *T, file string) error
}

func (k kind[T]) write(s *Store, before, after *api.Config, files partials) error {
	entries := k.in(after)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[name]
		if reflect.DeepEqual(k.in(before)[name], entry) {
			continue
		}
		place := s.destination(k.origin(entry))
		if k.move != nil {
			if err := k.move(entry, place); err != nil {
				return err
			}
		}
		file, err := files.open(place)
		if err != nil {
			return err
		}
		k.in(file)[name] = entry
	}
	return nil
}

func (k kind[T]) remove(before, after *api.Config, files partials) error {
	for name, entry := range k.in(before) {
		if k.in(after)[name] != nil {
			continue
		}
		file, err := files.open(k.origin(entry))
		if err != nil {
			return err
		}
		delete(k.in(file), name)
	}
	return nil
}
