// Package start is the verb "kcp start": it runs a server until it is told to stop.
//
// What people see depends on where they look. On a terminal there is a summary of
// four lines, and later warnings and errors only, each at most once a minute; the log
// goes to kcp.log in the root directory. Anywhere else, and if a level or format of
// logs was asked for, the log goes to standard error in the form that Kubernetes
// components have.
//
// Up to the default level, what libraries log below the level of a warning is left
// out. The lines of this program itself are told from theirs by the name of their
// logger, which begins with "kcp":
//
//	klog.FromContext(ctx).WithName("kcp-workspace").Info("…")
//
// The package knows nothing of how a server is made; it gets a constructor.
package start
