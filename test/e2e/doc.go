// Package e2e runs whole behaviours as users see them: real kubectl and its plugins
// against a real server, as scripts below testdata/script.
//
// A script gets a workspace of its own, of type organization, so that scripts can run at
// the same time; its kubeconfig has that workspace as the current one. Beyond what
// testscript offers, a script may use:
//
//	kubectl args...                    runs kubectl; "! kubectl" must fail
//	eventually pattern program args... runs the program until it succeeds and prints what
//	                                   the pattern matches; "! eventually" waits until it
//	                                   fails and says so on stderr
//	follow answer program args...      asks a question, "kubectl ws why" for example, and does
//	                                   what stands behind "next", answering questions
//	keys text                          no key in etcd contains text; "! keys": some do
//	on pipe|json|narrow|nocolor program args...
//	                                   runs the program where it is looked at by programs or by
//	                                   people, and sees that what it prints is fit for that;
//	                                   "! on" must fail. Scripts in the folder surfaces have
//	                                   every command on all of these
//	setenv name program args...        puts what the program prints into the environment
//	exec terminal columns program args...
//	                                   runs the program in a terminal of that width, types
//	                                   what "stdin" was given, and prints what is to be seen
//
// and has in its environment WS (the path of its workspace), SERVER (the URL of the server),
// PROGRAMS (the folder of the programs, which is on PATH) and the users user-1 to user-5 of the kubeconfig, who may do nothing yet.
package e2e
