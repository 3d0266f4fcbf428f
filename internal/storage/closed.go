package storage

import (
	"context"
	"fmt"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// closedStores are the resources that may have objects in etcd while their stores are not
// open: those of identities that no export has any more, say. Whoever removes all of a
// cluster removes them as well.
type closedStores struct {
	mu sync.Mutex
	// resources says of each whether it was found to have objects. It is nil until the keys
	// that were there before this process have been looked at.
	resources map[Resource]bool
}

// Closed returns the resources that have objects in some cluster, and whose stores are not
// open. It asks etcd for a key of each that has been closed or purged since it was last
// asked; the first time, for all keys that belong to no open store.
func (l *Layer) Closed(ctx context.Context) ([]Resource, error) {
	unsure, err := l.unsure(ctx)
	if err != nil {
		return nil, err
	}
	for _, resource := range unsure {
		holds, err := l.Holds(ctx, resource)
		if err != nil {
			return nil, err
		}
		l.left.found(resource, holds)
	}
	return l.left.except(l.isOpen), nil
}

// unsure returns the resources of which it is not known whether they have objects.
func (l *Layer) unsure(ctx context.Context) ([]Resource, error) {
	l.left.mu.Lock()
	defer l.left.mu.Unlock()
	if l.left.resources == nil {
		stored, err := l.storedResources(ctx)
		if err != nil {
			return nil, err
		}
		l.left.resources = stored
	}
	var unsure []Resource
	for resource, found := range l.left.resources {
		if !found && !l.isOpen(resource) {
			unsure = append(unsure, resource)
		}
	}
	return unsure, nil
}

// add notes that a store has been closed, or written to after that, or that its objects
// are about to be removed.
func (c *closedStores) add(resource Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources != nil {
		c.resources[resource] = false
	}
}

func (c *closedStores) found(resource Resource, holds bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if holds {
		c.resources[resource] = true
	} else {
		delete(c.resources, resource)
	}
}

// except returns the resources that are not open. Those that are will be closed first.
func (c *closedStores) except(open func(Resource) bool) []Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	var closed []Resource
	for resource := range c.resources {
		if open(resource) {
			delete(c.resources, resource)
		} else {
			closed = append(closed, resource)
		}
	}
	return closed
}

func (l *Layer) isOpen(resource Resource) bool {
	_, ok := l.lookUp(resource)
	return ok
}

// storedResources returns the resources that have objects in etcd and whose stores are
// not open. It reads the keys between those of open stores: etcd walks over all keys of a
// range, however few are wanted.
func (l *Layer) storedResources(ctx context.Context) (map[Resource]bool, error) {
	var open []string
	for _, resource := range l.Opened() {
		open = append(open, l.prefix+resource.Prefix()+"/")
	}
	slices.Sort(open)
	stored, from := map[Resource]bool{}, l.prefix+"/"
	for _, prefix := range open {
		if err := l.resourcesBetween(ctx, from, prefix, stored); err != nil {
			return nil, err
		}
		from = clientv3.GetPrefixRangeEnd(prefix)
	}
	return stored, l.resourcesBetween(ctx, from, clientv3.GetPrefixRangeEnd(l.prefix+"/"), stored)
}

// resourcesBetween adds the resources that keys of a range belong to.
func (l *Layer) resourcesBetween(ctx context.Context, from, end string, stored map[Resource]bool) error {
	for from < end {
		page, err := l.client.KV.Get(ctx, from, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(countPage))
		if err != nil {
			return fmt.Errorf("looking for resources that have objects: %w", err)
		}
		for _, kv := range page.Kvs {
			if at, ok := locate(l.prefix, string(kv.Key)); ok {
				stored[at.resource] = true
			}
		}
		if !page.More {
			return nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
	return nil
}
