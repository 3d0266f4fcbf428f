// Package crash shows that nothing that was acknowledged is lost, and nothing stays half
// done, when the server is killed in the middle of its work.
//
// A round starts the real program, lets eight clients create, change and delete workspaces
// and objects, kills the program with SIGKILL after some number of acknowledged writes,
// starts it again on the same root directory and compares what is there with what was
// acknowledged. All rounds share the root directory, so that later ones see what earlier
// ones left. After the last round the server is stopped in order and etcd is searched for
// keys of workspaces that do not exist.
//
// Other tests kill the program in the middle of something in particular: bindings, the
// migration of stored objects, the hooks of workspaces that come and go, and the
// controllers of such hooks at work on many workspaces at once.
package crash
