package garbagecollector

import (
	"crypto/sha256"
	"unique"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// uid is a UID in a third of the space. Owner references may carry any text; what is no
// UUID is represented by its hash.
type uid [16]byte

func compact(text types.UID) uid {
	if parsed, err := uuid.Parse(string(text)); err == nil && parsed.String() == string(text) {
		return uid(parsed)
	}
	sum := sha256.Sum256([]byte(text))
	return uid(sum[:16])
}

// String returns the UID, or something in its form for what is none. compact reverses it.
func (u uid) String() string { return uuid.UUID(u).String() }

func (u uid) text() types.UID { return types.UID(u.String()) }

// nodeKey identifies an object of the shard.
type nodeKey struct {
	cluster unique.Handle[logicalcluster.Name]
	uid     uid
}

func keyOf(cluster logicalcluster.Name, text types.UID) nodeKey {
	return nodeKey{cluster: unique.Make(cluster), uid: compact(text)}
}

// queued returns the key by which the controller is told of the object.
func (k nodeKey) queued() controller.Key {
	return controller.Key{Cluster: k.cluster.Value(), Name: k.uid.String()}
}

func dequeued(key controller.Key) nodeKey { return keyOf(key.Cluster, types.UID(key.Name)) }

// place says where an object is, beside its cluster.
type place struct {
	resource  unique.Handle[storage.Resource]
	namespace unique.Handle[string]
	// kind is that of a custom resource: its definition may be gone before what it owns.
	kind unique.Handle[string]
	name string
}

// state is what is known of an object.
type state uint8

const (
	// unknown: some object refers to it, and nobody has looked whether it exists.
	unknown state = iota
	// present: it exists at its place.
	present
	// absent: it does not exist; its place is where it was, or was looked for.
	absent
)

// phase is how an object is going.
type phase uint8

const (
	staying phase = iota
	// going: it is being deleted, and not for its dependents' sake that it is there still.
	going
	// foreground: it is being deleted and waits for the dependents that block it.
	foreground
	// orphaning: it is being deleted and waits for its dependents to be orphaned.
	orphaning
)

// node is an object in the graph.
type node struct {
	key    nodeKey
	place  place
	owners []link
	// dependents are the nodes that have a link to this one.
	dependents map[*node]struct{}
	// blocking is how many of their links block.
	blocking int32
	// round is that of the resource in which the object was heard of last.
	round uint32
	state state
	phase phase
	// parked says that the graph holds the object back until the kinds of its cluster
	// change.
	parked bool
}

// link is an owner reference.
type link struct {
	owner *node
	// blocks says that the owner must not go before the dependent.
	blocks bool
}

// idle says that there is nothing to remember of the object.
func (n *node) idle() bool {
	return len(n.owners) == 0 && len(n.dependents) == 0 && n.phase != foreground && n.phase != orphaning
}

// setOwners makes the links of n those that refs describe. It returns whether there are
// new ones, and the owners that n blocks no longer or does not refer to any more.
func (n *node) setOwners(refs []reference, owner func(uid) *node) (added bool, released []*node) {
	before := n.owners
	n.owners = nil
	if len(refs) > 0 {
		n.owners = make([]link, 0, len(refs))
	}
	for _, ref := range refs {
		if ref.uid == n.key.uid {
			// It would wait for itself.
			continue
		}
		old, found := find(before, ref.uid)
		if !found {
			added = true
			old.owner = owner(ref.uid)
			if old.owner.dependents == nil {
				old.owner.dependents = map[*node]struct{}{}
			}
			old.owner.dependents[n] = struct{}{}
		}
		switch {
		case ref.blocks && !old.blocks:
			old.owner.blocking++
		case !ref.blocks && old.blocks:
			old.owner.blocking--
			released = append(released, old.owner)
		}
		n.owners = append(n.owners, link{owner: old.owner, blocks: ref.blocks})
	}
	for _, old := range before {
		if _, found := find(n.owners, old.owner.key.uid); found {
			continue
		}
		delete(old.owner.dependents, n)
		if old.blocks {
			old.owner.blocking--
		}
		released = append(released, old.owner)
	}
	return added, released
}

func find(links []link, owner uid) (link, bool) {
	for _, l := range links {
		if l.owner.key.uid == owner {
			return l, true
		}
	}
	return link{}, false
}
