package kcp

import (
	"slices"
	"strings"
	"testing"
)

// layer is a set of packages that may import those of the layers before it. Packages
// of one layer do not import each other: they meet in the layer above, or through small
// interfaces. That is what keeps each of them readable, and replaceable, by itself.
type layer struct {
	name string
	// parts are folders; each, with what is below it, is one part of the layer.
	parts []string
	// together, if not empty, is why parts of this layer may import each other.
	together string
}

// layers, from the bottom up.
var layers = []layer{
	{
		name:     "vocabulary",
		parts:    []string{"internal/apihash", "pkg/apis", "pkg/logicalcluster"},
		together: "words are explained with words",
	},
	{
		// What clients work out as the server does, with the same code.
		name:  "shared rules",
		parts: []string{"pkg/tenancy"},
	},
	{
		// What can be decided from its arguments alone.
		name: "pure rules",
		parts: []string{
			"internal/apiversions", "internal/authn/identity", "internal/conversion", "internal/features", "internal/permissionclaims",
			"internal/schema", "internal/tenancy", "internal/version",
		},
	},
	{
		// What is decided by several of these rules, from arguments alone as well.
		name:  "decisions",
		parts: []string{"internal/binding"},
	},
	{
		// What processes that know nothing of each other agree by, and what they say of it.
		name:  "files",
		parts: []string{"internal/fileerror", "internal/filelock"},
	},
	{
		// Who is who, by certificates.
		name:  "certificates",
		parts: []string{"internal/authority"},
	},
	{
		name:  "bootstrap objects",
		parts: []string{"config"},
	},
	{
		name: "mechanisms",
		parts: []string{
			"internal/authn", "internal/authz", "internal/builtin", "internal/discovery", "internal/exportref", "internal/idle", "internal/inflight",
			"internal/memory", "internal/metrics", "internal/openapi", "internal/quota", "internal/registry", "internal/rootdir", "internal/route", "internal/servingcert",
			"internal/storage", "internal/unmarked",
		},
	},
	{
		// How what happens in storage reaches those who act on it.
		name:  "events",
		parts: []string{"internal/controller"},
	},
	{
		name:  "domains",
		parts: []string{"internal/admission", "internal/boundcrd", "internal/catalog", "internal/claimed", "internal/shard", "internal/tenancy/birth", "internal/tenancy/defaultbindings"},
	},
	{
		name:  "behavior",
		parts: []string{"internal/bootstrap", "internal/controllers", "internal/homes", "internal/hookcontent", "internal/proxy", "internal/virtual"},
	},
	{
		// Flags, their checks and their effect: what a server is told.
		name:  "settings",
		parts: []string{"pkg/server/options"},
	},
	{
		// All that a server keeps, in one file.
		name:  "archive",
		parts: []string{"internal/archive"},
	},
	{
		// What is put into workspaces from outside.
		name:  "clients",
		parts: []string{"internal/apply"},
	},
	{
		// What must be held before anything may be written.
		name:  "launch",
		parts: []string{"internal/launch"},
	},
	{
		name:  "server",
		parts: []string{"pkg/server"},
	},
	{
		// A whole server as a part of something else.
		name:  "in process",
		parts: []string{"internal/inprocess"},
	},
	{
		// What other people's tests start, and ours too.
		name:  "control planes for tests",
		parts: []string{"pkg/kcptest"},
	},
	{
		// Only tests import these.
		name:  "for tests",
		parts: []string{"internal/servertest", "internal/tenancy/tenancytest"},
	},
	{
		name:  "commands",
		parts: []string{"pkg/cli"},
	},
	{
		name:  "programs",
		parts: []string{"cmd", "hack", "test"},
	},
}

// exceptions are imports that the layers do not allow, with the reason.
var exceptions = map[[2]string]string{}

func TestLayers(t *testing.T) {
	used := map[[2]string]bool{}
	for _, p := range listPackages(t, "./...") {
		if p.name() == "" {
			continue // the map of the repository
		}
		from, fromPart, ok := layerOf(p.name())
		if !ok {
			t.Errorf("%s is in no layer: decide where it belongs, and say so here and in docs/design", p.name())
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			to, toPart, ok := layerOf(imported)
			if !ok || to < from || fromPart == toPart || to == from && layers[to].together != "" {
				continue
			}
			edge := [2]string{p.name(), imported}
			if _, ok := exceptions[edge]; ok {
				used[edge] = true
				continue
			}
			t.Errorf("%s (%s) imports %s (%s): %s", p.name(), layers[from].name, imported, layers[to].name, advice(from, to))
		}
	}
	for edge := range exceptions {
		if !used[edge] {
			t.Errorf("%s does not import %s any more, so there is no need to allow it", edge[0], edge[1])
		}
	}
}

func advice(from, to int) string {
	if from == to {
		return "packages of one layer meet through API objects, or interfaces declared where they are used"
	}
	return "imports point downwards; declare what is needed as an interface, and let pkg/server connect the two"
}

// layerOf returns the layer and part that the package belongs to: the longest folder
// that it is in.
func layerOf(name string) (index int, part string, ok bool) {
	for i, l := range layers {
		for _, folder := range l.parts {
			if (name == folder || strings.HasPrefix(name, folder+"/")) && len(folder) > len(part) {
				index, part, ok = i, folder, true
			}
		}
	}
	return index, part, ok
}

// forbidden are the modules and folders that a kubectl plugin must not link, with the
// reason.
var forbidden = []struct{ prefix, reason string }{
	{"k8s.io/kubernetes", "a plugin is a client; Kubernetes itself would make it ten times as large"},
	{"k8s.io/apiserver", "a plugin is a client; it serves nothing"},
	{"k8s.io/apiextensions-apiserver/pkg/apiserver", "a plugin is a client; it serves nothing"},
	{"go.etcd.io", "a plugin is a client; it stores nothing"},
	{"google.golang.org/grpc", "nothing that a plugin talks to speaks it"},
	{module + "/internal", "what is internal is the server's, and free to change without its clients"},
	{module + "/pkg/server", "a plugin is a client of the server"},
	{module + "/pkg/kcptest", "starting servers is for tests"},
}

// TestPluginDependencies looks at everything a plugin links, not only at what our own
// packages import. Operating systems differ in what they link.
func TestPluginDependencies(t *testing.T) {
	plugins := slices.DeleteFunc(listPackages(t, "./cmd/..."), func(p goPackage) bool {
		return !strings.HasPrefix(p.name(), "cmd/kubectl-")
	})
	for _, plugin := range plugins {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			t.Run(strings.TrimPrefix(plugin.name(), "cmd/")+"/"+goos, func(t *testing.T) {
				t.Setenv("GOOS", goos)
				t.Setenv("CGO_ENABLED", "0")
				for dependency := range strings.Lines(string(goCommand(t, "list", "-deps", plugin.ImportPath))) {
					for _, f := range forbidden {
						if isBelow(strings.TrimSpace(dependency), f.prefix) {
							t.Errorf("links %s: %s", strings.TrimSpace(dependency), f.reason)
						}
					}
				}
			})
		}
	}
}

func isBelow(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
