package kubeconfig

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/run"
)

// state is a kubeconfig in a form that can be read in a table: clusters as name →
// server, contexts as name → cluster/user.
type state struct {
	Clusters, Contexts map[string]string
	Current            string
}

func (s state) config() *api.Config {
	config := api.NewConfig()
	for name, server := range s.Clusters {
		config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: []byte("ca of " + name)}
	}
	for name, ref := range s.Contexts {
		config.Contexts[name] = &api.Context{Cluster: ref, AuthInfo: "user of " + name, Namespace: "ns"}
	}
	config.AuthInfos["admin"] = &api.AuthInfo{Token: "secret"}
	config.CurrentContext = s.Current
	return config
}

func stateOf(config *api.Config) state {
	s := state{Clusters: map[string]string{}, Contexts: map[string]string{}, Current: config.CurrentContext}
	for name, cluster := range config.Clusters {
		s.Clusters[name] = cluster.Server
	}
	for name, context := range config.Contexts {
		s.Contexts[name] = context.Cluster
	}
	return s
}

const (
	rootURL = "https://kcp/clusters/root"
	aURL    = "https://kcp/clusters/root:a"
	bURL    = "https://kcp/clusters/root:b"
)

// fresh is what the server's own kubeconfig looks like, with a foreign entry beside.
func fresh() state {
	return state{
		Clusters: map[string]string{"root": rootURL, "kind": "https://kind"},
		Contexts: map[string]string{"root": "root", "kind": "kind"},
		Current:  "root",
	}
}

// with returns s with other entries; an empty value removes one.
func (s state) with(current string, clusters, contexts map[string]string) state {
	out := stateOf(s.config())
	out.Current = current
	for name, server := range clusters {
		out.Clusters[name] = server
	}
	for name, cluster := range contexts {
		out.Contexts[name] = cluster
	}
	return out
}

func TestEdits(t *testing.T) {
	type entries = map[string]string
	switched := fresh().with(currentName, entries{currentName: aURL}, entries{currentName: currentName, previousName: "root"})

	cases := map[string]struct {
		reason string
		before state
		edit   func(*api.Config) error
		want   state
		err    string
	}{
		"FirstSwitch": {
			reason: "the context one comes from keeps its own cluster, and becomes the previous one",
			before: fresh(),
			edit:   func(c *api.Config) error { return Switch(c, "root", aURL) },
			want:   switched,
		},
		"SecondSwitch": {
			reason: "what our own cluster entry pointed at moves on to the previous one",
			before: switched,
			edit:   func(c *api.Config) error { return Switch(c, currentName, bURL) },
			want: fresh().with(currentName, entries{currentName: bURL, previousName: aURL},
				entries{currentName: currentName, previousName: previousName}),
		},
		"SwitchFromForeign": {
			reason: "a context of others is left as it is",
			before: switched.with("root", nil, nil),
			edit:   func(c *api.Config) error { return Switch(c, "root", bURL) },
			want:   switched.with(currentName, entries{currentName: bURL}, nil),
		},
		"SwitchToOtherServer": {
			reason: "credentials stay on their server",
			before: fresh(),
			edit:   func(c *api.Config) error { return Switch(c, "kind", aURL) },
			want:   fresh(),
			err:    `context "kind" belongs to the server https://kind, its credentials are not taken to https://kcp`,
		},
		"SwitchWithoutContext": {
			reason: "there must be something to take the user from",
			before: fresh().with("", nil, nil),
			edit:   func(c *api.Config) error { return Switch(c, "", aURL) },
			want:   fresh().with("", nil, nil),
			err:    "the kubeconfig has no current context",
		},
		"SwitchFromBroken": {
			reason: "a context may name a cluster that is gone",
			before: fresh().with("x", nil, entries{"x": "gone"}),
			edit:   func(c *api.Config) error { return Switch(c, "x", aURL) },
			want:   fresh().with("x", nil, entries{"x": "gone"}),
			err:    `context "x" uses cluster "gone", which does not exist in the kubeconfig`,
		},
		"BackToForeign": {
			reason: "a foreign cluster is referenced as it was; our own entry moves along",
			before: switched,
			edit:   SwitchBack,
			want:   switched.with(currentName, entries{previousName: aURL}, entries{currentName: "root", previousName: previousName}),
		},
		"BackAndForth": {
			reason: "going back twice is staying",
			before: fresh().with(currentName, entries{currentName: bURL, previousName: aURL},
				entries{currentName: currentName, previousName: previousName}),
			edit: func(c *api.Config) error { return errors.Join(SwitchBack(c), SwitchBack(c)) },
			want: fresh().with(currentName, entries{currentName: bURL, previousName: aURL},
				entries{currentName: currentName, previousName: previousName}),
		},
		"BackWithoutPrevious": {
			reason: "one has to have been elsewhere",
			before: fresh(),
			edit:   SwitchBack,
			want:   fresh(),
			err:    "there is no previous workspace in the kubeconfig",
		},
		"BackFromForeign": {
			reason: "the two contexts change places wherever one is; the foreign one stays",
			before: fresh().with("kind", entries{currentName: bURL, previousName: aURL},
				entries{currentName: currentName, previousName: previousName}),
			edit: SwitchBack,
			want: fresh().with(currentName, entries{currentName: aURL, previousName: bURL},
				entries{currentName: currentName, previousName: previousName}),
		},
		"CreateContext": {
			reason: "cluster and context get the name",
			before: switched,
			edit: func(c *api.Config) error {
				_, err := CreateContext(c, currentName, NewContext{Name: "root:a", Server: aURL})
				return err
			},
			want: switched.with("root:a", entries{"root:a": aURL}, entries{"root:a": "root:a"}),
		},
		"CreateContextKeepingCurrent": {
			reason: "a new workspace can get a context without going there",
			before: switched,
			edit: func(c *api.Config) error {
				_, err := CreateContext(c, currentName, NewContext{Name: "b", Server: bURL, KeepCurrent: true})
				return err
			},
			want: switched.with(currentName, entries{"b": bURL}, entries{"b": "b"}),
		},
		"CreateContextTaken": {
			reason: "a context of that name is not ours to replace",
			before: fresh(),
			edit: func(c *api.Config) error {
				_, err := CreateContext(c, "root", NewContext{Name: "kind", Server: aURL})
				return err
			},
			want: fresh(),
			err:  `context "kind" already exists in the kubeconfig`,
		},
		"CreateContextTakenCluster": {
			reason: "nor is a cluster, which other contexts may use",
			before: fresh().with("root", entries{"shared": "https://other"}, nil),
			edit: func(c *api.Config) error {
				_, err := CreateContext(c, "root", NewContext{Name: "shared", Server: aURL})
				return err
			},
			want: fresh().with("root", entries{"shared": "https://other"}, nil),
			err:  `context "shared" already exists in the kubeconfig`,
		},
		"CreateContextOverwrite": {
			reason: "unless that was asked for",
			before: fresh(),
			edit: func(c *api.Config) error {
				_, err := CreateContext(c, "root", NewContext{Name: "kind", Server: aURL, Overwrite: true})
				return err
			},
			want: fresh().with("kind", entries{"kind": aURL}, nil),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := tc.before.config()
			err := tc.edit(config)
			if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, stateOf(config)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.before.config().AuthInfos, config.AuthInfos); diff != "" {
				t.Errorf("users are never touched: %s", diff)
			}
		})
	}
}

func TestSwitchCopiesEverything(t *testing.T) {
	config := fresh().config()
	config.Clusters["root"].TLSServerName = "name"
	config.Contexts["root"].Extensions = map[string]runtime.Object{"x": &runtime.Unknown{Raw: []byte(`{"a":1}`)}}
	if err := Switch(config, "root", aURL); err != nil {
		t.Fatal(err)
	}

	cluster := config.Clusters["root"].DeepCopy()
	cluster.Server = aURL
	if diff := cmp.Diff(cluster, config.Clusters[currentName]); diff != "" {
		t.Errorf("all of the cluster but the server is taken: %s", diff)
	}
	context := config.Contexts["root"].DeepCopy()
	context.Cluster = currentName
	delete(config.Contexts[currentName].Extensions, historyName)
	if diff := cmp.Diff(context, config.Contexts[currentName]); diff != "" {
		t.Errorf("all of the context but the cluster is taken: %s", diff)
	}
}

func TestChangeString(t *testing.T) {
	cases := map[string]Change{
		`Created context "a" and switched to it.`: {Name: "a", Switched: true},
		`Created context "a".`:                    {Name: "a"},
		`Updated context "a" and switched to it.`: {Name: "a", Updated: true, Switched: true},
		`Updated context "a".`:                    {Name: "a", Updated: true},
	}
	for want, change := range cases {
		if got := change.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNoCurrent(t *testing.T) {
	contexts := func(names ...string) *api.Config {
		config := api.NewConfig()
		for _, name := range names {
			config.Contexts[name] = api.NewContext()
		}
		return config
	}
	for name, c := range map[string]struct {
		reason string
		config *api.Config
		want   string
	}{
		"None": {"a server that stopped may have taken its context with it", contexts(), "it has no contexts at all; name another kubeconfig with --kubeconfig or the environment variable KUBECONFIG"},
		"Some": {"one of them can be taken", contexts("b", "a"), "kubectl config use-context NAME takes one of those there are: a, b"},
		"Many": {"nobody reads all of them", contexts("f", "e", "d", "c", "b", "a"), "kubectl config use-context NAME takes one of those there are: a, b, c, d, e, ..."},
	} {
		t.Run(name, func(t *testing.T) {
			err := noCurrent(c.config)
			if diff := cmp.Diff([]string{c.want}, run.Hints(err)); diff != "" || !errors.Is(err, errNoCurrent) {
				t.Errorf("%s: got %v (-want +got):\n%s", c.reason, err, diff)
			}
		})
	}
}
