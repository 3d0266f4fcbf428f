package kubeconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/run"
)

// The names of our entries, for contexts and clusters alike.
const (
	currentName  = "workspace.kcp.io/current"
	previousName = "workspace.kcp.io/previous"
)

var (
	errNoPrevious = errors.New("there is no previous workspace in the kubeconfig")
	errNoCurrent  = errors.New("the kubeconfig has no current context")
)

// mostContexts is how many contexts are worth naming to somebody who has to take one.
const mostContexts = 5

// noCurrent returns errNoCurrent with what to do about it.
func noCurrent(config *api.Config) error {
	names := slices.Sorted(maps.Keys(config.Contexts))
	switch n := len(names); {
	case n == 0:
		return run.Hint(errNoCurrent, "it has no contexts at all; name another kubeconfig with --kubeconfig or the environment variable KUBECONFIG")
	case n > mostContexts:
		names = append(names[:mostContexts], "...")
	}
	return run.Hint(errNoCurrent, "kubectl config use-context NAME takes one of those there are: "+strings.Join(names, ", "))
}

// Switch makes the workspace URL server the current one. from is the context to
// start from; everything but the server is taken from it. What was current before
// becomes the previous one.
func Switch(config *api.Config, from, server string) error {
	cluster, err := startOf(config, from, server)
	if err != nil {
		return err
	}
	context := config.Contexts[from]
	visited := historyOf(config).visit(cluster.Server, server)

	before := context.DeepCopy()
	if before.Cluster == currentName {
		// The entry is about to be overwritten, so the previous context needs its own.
		putCluster(config, previousName, cluster.DeepCopy())
		before.Cluster = previousName
	}

	target := cluster.DeepCopy()
	target.Server = server
	now := context.DeepCopy()
	now.Cluster = currentName

	putCluster(config, currentName, target)
	putContext(config, currentName, now)
	putContext(config, previousName, before)
	config.CurrentContext = currentName
	remember(config, visited)
	return nil
}

// SwitchBack lets the current and the previous context change places. Their own
// cluster entries move along; entries with other names are referenced as before.
func SwitchBack(config *api.Config) error {
	target := config.Contexts[previousName]
	if target == nil {
		return errNoPrevious
	}
	left := config.Contexts[currentName]
	if left == nil {
		left = config.Contexts[config.CurrentContext]
	}
	targetCluster, leftCluster := config.Clusters[previousName], config.Clusters[currentName]
	visited := historyOf(config).visit(serverOf(config, left), serverOf(config, target))

	target = target.DeepCopy()
	if target.Cluster == previousName && targetCluster != nil {
		target.Cluster = currentName
		putCluster(config, currentName, targetCluster.DeepCopy())
	}
	if left != nil {
		left = left.DeepCopy()
		if left.Cluster == currentName && leftCluster != nil {
			left.Cluster = previousName
			putCluster(config, previousName, leftCluster.DeepCopy())
		}
		putContext(config, previousName, left)
	}
	putContext(config, currentName, target)
	config.CurrentContext = currentName
	remember(config, visited)
	return nil
}

// serverOf returns the address that context leads to, "" if it leads nowhere.
func serverOf(config *api.Config, context *api.Context) string {
	if context == nil || config.Clusters[context.Cluster] == nil {
		return ""
	}
	return config.Clusters[context.Cluster].Server
}

// NewContext describes a context to be made by CreateContext.
type NewContext struct {
	// Name of the context and of its cluster.
	Name string
	// Server is the URL of the workspace.
	Server string
	// Overwrite allows to replace entries of that name.
	Overwrite bool
	// KeepCurrent leaves the current context as it is.
	KeepCurrent bool
}

// Change is what CreateContext has done.
type Change struct {
	// Name of the context.
	Name string
	// Updated says that a context of the name was there before.
	Updated bool
	// Switched says that another context was current before.
	Switched bool
}

// String says what has been done, in a sentence.
func (c Change) String() string {
	verb := "Created"
	if c.Updated {
		verb = "Updated"
	}
	if c.Switched {
		return fmt.Sprintf("%s context %q and switched to it.", verb, c.Name)
	}
	return fmt.Sprintf("%s context %q.", verb, c.Name)
}

// ExistsError says that a context or cluster is in the way of a new context.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("context %q already exists in the kubeconfig", e.Name)
}

// CreateContext makes a context from the one called from. It returns an ExistsError
// if the name is taken and want does not allow to overwrite it.
func CreateContext(config *api.Config, from string, want NewContext) (Change, error) {
	source, err := startOf(config, from, want.Server)
	if err != nil {
		return Change{}, err
	}
	// A cluster of that name is in the way, too: contexts of others may use it.
	_, contextExists := config.Contexts[want.Name]
	_, clusterExists := config.Clusters[want.Name]
	if (contextExists || clusterExists) && !want.Overwrite {
		return Change{}, &ExistsError{Name: want.Name}
	}

	cluster := source.DeepCopy()
	cluster.Server = want.Server
	context := config.Contexts[from].DeepCopy()
	context.Cluster = want.Name
	delete(context.Extensions, historyName)
	putCluster(config, want.Name, cluster)
	putContext(config, want.Name, context)

	change := Change{Name: want.Name, Updated: contextExists}
	if !want.KeepCurrent {
		change.Switched = config.CurrentContext != want.Name
		config.CurrentContext = want.Name
	}
	return change, nil
}

// startOf returns the cluster of the context that an edit starts from, after making
// sure that server is the same server: the new entry gets the context's credentials.
func startOf(config *api.Config, from, server string) (*api.Cluster, error) {
	if from == "" {
		return nil, noCurrent(config)
	}
	cluster, err := clusterOf(config, from)
	if err != nil {
		return nil, err
	}
	have, want := placeOf(cluster.Server).Base, placeOf(server).Base
	if have != want {
		return nil, fmt.Errorf("context %q belongs to the server %s, its credentials are not taken to %s", from, have, want)
	}
	return cluster, nil
}

// putCluster stores an entry under name, in the file that has one of that name.
func putCluster(config *api.Config, name string, cluster *api.Cluster) {
	cluster.LocationOfOrigin = ""
	if old := config.Clusters[name]; old != nil {
		cluster.LocationOfOrigin = old.LocationOfOrigin
	}
	config.Clusters[name] = cluster
}

// putContext stores an entry under name, in the file that has one of that name.
func putContext(config *api.Config, name string, context *api.Context) {
	context.LocationOfOrigin = ""
	if old := config.Contexts[name]; old != nil {
		context.LocationOfOrigin = old.LocationOfOrigin
	}
	config.Contexts[name] = context
}
