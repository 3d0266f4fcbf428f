// Package path is the grammar in which people name workspaces on a command line,
// and the form in which a kubeconfig holds them. It is pure: what needs a server or
// a file (the home workspace, the previous one) is handed in.
//
//	""  ~             home                 .          the current workspace
//	~:a:b  ~/a/b      below home           -          the previous workspace
//	/home/me/a        the same, as a shell expands ~/a
//	:a:b  /a/b        absolute             :          the top of the current path
//	a:b  ./a  ..:b    relative             root:a     absolute, the legacy form of :root:a
//	@name  @name:a    a pin, and below it  https://…  the address of a workspace on this server
//
// A relative name that looks like the identifier of a logical cluster may be one.
//
// A path is resolved textually: ".." takes off a segment whether or not it exists.
// Above a "system:" cluster there is nothing, so ".." stays there.
package path
