package kcptest

import (
	"io"
	"slices"
)

// Option changes what Start and New start.
type Option func(*settings)

type settings struct {
	// flags are of "kcp start".
	flags []string
	// root is a root directory that stays, if not empty.
	root string
	log  io.Writer
}

func settingsOf(opts []Option) settings {
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// WithFlags starts the control plane with flags of "kcp start", as
// "--batteries-included=+workload-types" or "--feature-gates=WorkspaceMounts=true". They
// may be given in several parts; the last one to name a flag wins.
func WithFlags(flags ...string) Option {
	flags = slices.Clone(flags)
	return func(s *settings) { s.flags = append(s.flags, flags...) }
}

// WithWorkloadTypes serves pods, services, deployments and the like in all workspaces, as
// API objects with nothing behind them: no scheduler, no nodes, no controllers.
func WithWorkloadTypes() Option {
	return WithFlags("--batteries-included=+workload-types")
}

// WithRootDirectory keeps the state of the control plane in a directory instead of in
// memory, so that another one can be started from it later.
func WithRootDirectory(directory string) Option {
	return func(s *settings) { s.root = directory }
}

// WithLog writes what the process logs to w, too, at once, for as long as the control
// plane runs. w is called by one goroutine at a time.
func WithLog(w io.Writer) Option {
	return func(s *settings) { s.log = w }
}

// WorkspaceOption changes what Workspace makes.
type WorkspaceOption func(*workspaceSettings)

type workspaceSettings struct {
	parent, name, prefix string
	typePath, typeName   string
}

func workspaceSettingsOf(opts []WorkspaceOption) workspaceSettings {
	s := workspaceSettings{parent: rootPath, prefix: "test-"}
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// WithName gives the workspace a name. Without it, the name is one that no other
// workspace has.
func WithName(name string) WorkspaceOption {
	return func(s *workspaceSettings) { s.name = name }
}

// WithNamePrefix has the name generated from a prefix, as "test-".
func WithNamePrefix(prefix string) WorkspaceOption {
	return func(s *workspaceSettings) { s.name, s.prefix = "", prefix }
}

// WithParent makes the workspace below the one at a path, as "root:acme", instead of below
// root.
func WithParent(path string) WorkspaceOption {
	return func(s *workspaceSettings) { s.parent = path }
}

// WithType makes the workspace one of a type, which is called name and defined in the
// workspace at path: WithType("root", "organization"). Without it, it is of the type that
// its parent has as default, which is "universal" below root.
func WithType(path, name string) WorkspaceOption {
	return func(s *workspaceSettings) { s.typePath, s.typeName = path, name }
}
