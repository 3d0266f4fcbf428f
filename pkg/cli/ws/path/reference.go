package path

import (
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	separator  = ":"
	legacyRoot = "root"
	systemRoot = "system"
)

// Kind says what a Reference is relative to.
type Kind int

// The kinds of references.
const (
	// Current is the workspace the kubeconfig points at.
	Current Kind = iota
	// Previous is the workspace the kubeconfig pointed at before.
	Previous
	// Top is the topmost workspace above the current one.
	Top
	// Home is the home workspace of the user, or something below it.
	Home
	// Absolute needs nothing to be resolved.
	Absolute
	// Relative starts at the current workspace.
	Relative
	// Pinned is a workspace that has a name in the kubeconfig, or something below it.
	Pinned
	// URL names a workspace by its address, which has to be on the same server.
	URL
)

// pinSign begins the name of a pin.
const pinSign = "@"

// Reference is a parsed argument that names a workspace.
type Reference struct {
	// Kind says what Resolve needs as its base.
	Kind Kind
	// Legacy says that the argument began with "root" without a leading colon, which
	// is read as an absolute path.
	Legacy bool
	// Pin is the name of the pin, for Pinned.
	Pin string
	// Server is the address of the server without the workspace, for URL.
	Server string

	arg      string
	segments []string
}

// Parse reads arg. userHome is the user's home directory, or "" if there is none.
func Parse(arg, userHome string) (Reference, error) {
	ref := Reference{arg: arg}
	if strings.Contains(arg, "://") {
		return parseURL(arg)
	}
	s := strings.ReplaceAll(foldHome(arg, userHome), "/", separator)
	if s == legacyRoot || strings.HasPrefix(s, legacyRoot+separator) {
		ref.Legacy = true
		s = separator + s
	}

	switch {
	case s == "" || s == "~":
		ref.Kind = Home
	case s == ".":
		ref.Kind = Current
	case s == "-":
		ref.Kind = Previous
	case s == separator:
		ref.Kind = Top
	case strings.HasPrefix(s, "~"+separator):
		ref.Kind = Home
		ref.segments = strings.Split(s[2:], separator)
	case strings.HasPrefix(s, "~"):
		return Reference{}, fmt.Errorf("%q would be the home workspace of somebody else, only your own can be named: ~", arg)
	case strings.HasPrefix(s, pinSign):
		ref.Kind = Pinned
		names := strings.Split(s[len(pinSign):], separator)
		ref.Pin, ref.segments = names[0], names[1:]
	case strings.HasPrefix(s, separator):
		ref.Kind = Absolute
		ref.segments = strings.Split(s[1:], separator)
	default:
		ref.Kind = Relative
		ref.segments = strings.Split(s, separator)
	}
	return ref, ref.validate()
}

// parseURL reads the address of a workspace.
func parseURL(arg string) (Reference, error) {
	base, p, ok := SplitURL(arg)
	if !ok {
		return Reference{}, fmt.Errorf("the URL %q names no workspace: there is no /clusters/<path> in it", arg)
	}
	return Reference{Kind: URL, Server: base, arg: arg, segments: p.Segments()}, nil
}

// foldHome undoes what a shell makes of "~/a". The whole tree would be "home" for
// users whose home directory is "/", so they have no such form.
func foldHome(arg, userHome string) string {
	userHome = strings.TrimRight(userHome, "/")
	if userHome == "" {
		return arg
	}
	if rest, ok := strings.CutPrefix(arg, userHome); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return arg
}

// validate finds what no base can mend, so that it is reported before a server is
// asked for the base.
func (r Reference) validate() error {
	switch r.Kind {
	case Absolute:
		_, err := r.Resolve(logicalcluster.Path{})
		return err
	case Pinned:
		if !validPin(r.Pin) {
			return fmt.Errorf("%q names no pin: %w", r.arg, errPinName)
		}
		return r.validateBelow()
	case Home:
		return r.validateBelow()
	}
	return nil
}

// validateBelow finds names that cannot be names of workspaces, wherever they begin.
func (r Reference) validateBelow() error {
	var names []string
	for _, s := range r.segments {
		if s != "." && s != ".." {
			names = append(names, s)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if _, err := logicalcluster.ParsePath(strings.Join(names, separator)); err != nil {
		return r.invalid()
	}
	return nil
}

// Resolve returns the path that r names. base is the current workspace for Current,
// Top and Relative, the previous one for Previous, the home workspace for Home, the
// pinned one for Pinned, and is not looked at for Absolute and URL.
func (r Reference) Resolve(base logicalcluster.Path) (logicalcluster.Path, error) {
	switch r.Kind {
	case Current, Previous:
		return base, nil
	case Top:
		// A path that could be parsed keeps its first segment, and has one.
		top, _, _ := strings.Cut(base.String(), separator)
		if base.IsSystem() || top == "" {
			return base, nil
		}
		return logicalcluster.ParsePath(top)
	case Absolute:
		return r.walk(nil)
	case URL:
		return logicalcluster.ParsePath(strings.Join(r.segments, separator))
	default:
		return r.walk(strings.Split(base.String(), separator))
	}
}

// walk applies the segments of r to those of the path it starts from.
func (r Reference) walk(at []string) (logicalcluster.Path, error) {
	top := ""
	for _, s := range r.segments {
		switch {
		case s == ".":
		case s != "..":
			at = append(at, s)
		case len(at) > 1 && at[0] == systemRoot:
			// There is nothing above a system cluster.
		case len(at) == 0:
			return logicalcluster.Path{}, r.above(top)
		default:
			top = at[0]
			at = at[:len(at)-1]
		}
	}
	if len(at) == 0 {
		return logicalcluster.Path{}, r.above(top)
	}
	p, err := logicalcluster.ParsePath(strings.Join(at, separator))
	if err != nil {
		return logicalcluster.Path{}, r.invalid()
	}
	return p, nil
}

// above says why r leads nowhere: it goes up from top, a path of one segment.
func (r Reference) above(top string) error {
	switch top {
	case "":
		return r.invalid()
	case logicalcluster.Root.String():
		return fmt.Errorf("%w: nothing is above %s", r.invalid(), top)
	default:
		// It is the identifier of a logical cluster, which says nothing about its place.
		return fmt.Errorf("%w: what is above %s is not known", r.invalid(), top)
	}
}

func (r Reference) invalid() error {
	return fmt.Errorf("invalid workspace path: %s", r.arg)
}

// String returns the argument as it was typed.
func (r Reference) String() string { return r.arg }
