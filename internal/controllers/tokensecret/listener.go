package tokensecret

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// listener turns what happens into keys of what has to be looked at: a secret that holds
// a token, or all secrets of a namespace that has lost an account.
//
// It remembers the secrets, which are few, so that accounts that go cost nothing where
// there are none, and to look at them again after a gap.
type listener struct {
	enqueue func(controller.Key)

	mu sync.Mutex
	// secrets are the keys of all secrets that hold tokens, by namespace.
	secrets map[controller.Key]map[controller.Key]struct{}
	// before is what secrets were before all of them began to be told anew.
	before map[controller.Key]map[controller.Key]struct{}
}

// Began implements controller.Listener.
func (l *listener) Began(resource storage.Resource) {
	if resource != cached.Secrets {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.secrets = l.secrets, nil
}

// Changed implements controller.Listener.
func (l *listener) Changed(resource storage.Resource, obj runtime.Object) {
	if resource != cached.Secrets {
		return
	}
	secret, ok := obj.(*core.Secret)
	if !ok || !holdsToken(secret) {
		return
	}
	key := keyOf(secret)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.secrets == nil {
		l.secrets = map[controller.Key]map[controller.Key]struct{}{}
	}
	if l.secrets[namespaceOf(key)] == nil {
		l.secrets[namespaceOf(key)] = map[controller.Key]struct{}{}
	}
	l.secrets[namespaceOf(key)][key] = struct{}{}
	l.enqueue(key)
}

// Gone implements controller.Listener.
func (l *listener) Gone(resource storage.Resource, obj runtime.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch gone := obj.(type) {
	case *core.Secret:
		key := keyOf(gone)
		in := namespaceOf(key)
		if _, ok := l.secrets[in][key]; resource != cached.Secrets || !ok {
			return
		}
		delete(l.secrets[in], key)
		if len(l.secrets[in]) == 0 {
			delete(l.secrets, in)
		}
		l.enqueue(key)
	case *core.ServiceAccount:
		in := controller.Key{Cluster: logicalcluster.FromAnnotations(gone.Annotations), Namespace: gone.Namespace}
		if len(l.secrets[in]) > 0 {
			l.enqueue(in)
		}
	}
}

// Synced implements controller.Listener.
func (l *listener) Synced(resource storage.Resource) {
	if resource != cached.Secrets && resource != cached.ServiceAccounts {
		return
	}
	// The deletion of an account, or of a secret, may have gone unheard.
	l.mu.Lock()
	defer l.mu.Unlock()
	unsure := l.secrets
	if resource == cached.Secrets {
		unsure, l.before = l.before, nil
	}
	for _, secrets := range unsure {
		for key := range secrets {
			l.enqueue(key)
		}
	}
}

// Closed implements controller.Listener.
func (l *listener) Closed(storage.Resource) {}

func keyOf(secret *core.Secret) controller.Key {
	return controller.Key{
		Cluster:   logicalcluster.FromAnnotations(secret.Annotations),
		Namespace: secret.Namespace,
		Name:      secret.Name,
	}
}

// namespaceOf returns the key that stands for the namespace of key.
func namespaceOf(key controller.Key) controller.Key {
	key.Name = ""
	return key
}
