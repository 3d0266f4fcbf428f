package defaults

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// putOff is the key of what was put off: no object has it.
var putOff = controller.Key{}

// listener turns what happens into keys of what has to be looked at:
//
//	a namespace exists          the namespace
//	one of the objects is gone  the namespace
//	certificates are wrong      the ConfigMap
//
// While it is told what exists, wrong certificates are put off until all of them are
// known, and so is the look at all namespaces where deletions may have gone unheard.
type listener struct {
	rootCA  string
	enqueue func(controller.Key)

	mu sync.Mutex
	// wrong are ConfigMaps with wrong certificates, collected while starting.
	starting bool
	wrong    []controller.Key
	// begun are the resources that have been told of before.
	begun map[storage.Resource]bool
	// everything says that all namespaces have to be looked at.
	everything bool
}

// Began implements controller.Listener.
func (l *listener) Began(resource storage.Resource) {
	if resource != cached.ConfigMaps && resource != cached.ServiceAccounts {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if resource == cached.ConfigMaps {
		l.starting = true
	}
	if l.begun[resource] {
		l.everything = true
	}
	if l.begun == nil {
		l.begun = map[storage.Resource]bool{}
	}
	l.begun[resource] = true
}

// Changed implements controller.Listener.
func (l *listener) Changed(resource storage.Resource, obj runtime.Object) {
	switch resource {
	case cached.Namespaces:
		l.enqueue(key(obj, ""))
	case cached.ConfigMaps:
		configMap, ok := obj.(*core.ConfigMap)
		if ok && configMap.Name == namespace.RootCA && !isCurrent(configMap, l.rootCA) {
			l.heardWrong(key(obj, configMap.Namespace))
		}
	}
}

func (l *listener) heardWrong(key controller.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.starting {
		l.wrong = append(l.wrong, key)
		return
	}
	l.enqueue(key)
}

// Gone implements controller.Listener.
func (l *listener) Gone(resource storage.Resource, obj runtime.Object) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	if resource == cached.ServiceAccounts && accessor.GetName() == namespace.DefaultAccount ||
		resource == cached.ConfigMaps && accessor.GetName() == namespace.RootCA {
		l.enqueue(controller.Key{Cluster: logicalcluster.FromAnnotations(accessor.GetAnnotations()), Name: accessor.GetNamespace()})
	}
}

// Synced implements controller.Listener.
func (l *listener) Synced(resource storage.Resource) {
	if resource != cached.ConfigMaps && resource != cached.ServiceAccounts {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if resource == cached.ConfigMaps {
		l.starting = false
	}
	if len(l.wrong) > 0 || l.everything {
		l.enqueue(putOff)
	}
}

// Closed implements controller.Listener.
func (l *listener) Closed(storage.Resource) {}

// take returns what was put off, and forgets it.
func (l *listener) take() (wrong []controller.Key, everything bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wrong, everything = l.wrong, l.everything
	l.wrong, l.everything = nil, false
	return wrong, everything
}

// giveBack puts off again what could not be done.
func (l *listener) giveBack(wrong []controller.Key, everything bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, wrong...)
	l.everything = l.everything || everything
}

// key returns the key of an object in a namespace.
func key(obj runtime.Object, namespace string) controller.Key {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return putOff
	}
	return controller.Key{
		Cluster:   logicalcluster.FromAnnotations(accessor.GetAnnotations()),
		Namespace: namespace,
		Name:      accessor.GetName(),
	}
}
