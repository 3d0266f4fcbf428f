// Package kcptest gives tests a control plane of their own: a whole kcp server with its
// storage, in the process of the test, which is there in a fraction of a second and needs
// no binaries and no network but loopback.
//
//	func TestController(t *testing.T) {
//		workspace := kcptest.Start(t).Workspace(t)
//		workspace.Apply(t, kcptest.Files("../config/crds"))
//		mgr, err := ctrl.NewManager(workspace.Config(), ctrl.Options{})
//		…
//	}
//
// A control plane serves any number of workspaces, each of which looks like a Kubernetes
// API server of its own without nodes. A workspace takes milliseconds to make, so that
// each test can have one, on a control plane of its own or on one for the whole package,
// which New and Stop make and end in TestMain. Control planes and workspaces may be used
// by many tests at the same time, and any number may run in one process.
//
// What one may rely on:
//
//   - A control plane is ready when it is returned, and so is a workspace: what Apply and
//     Bind bring is served when they return.
//   - Everything is in memory, and gone after Stop: port, files, goroutines. Only with
//     WithRootDirectory there is something left, to be started from again.
//   - Users are real: what Config of a user may do is decided by authentication and
//     authorization as in production, by the client certificate in it.
//   - The methods that take a testing.TB end the test if they fail. Those that take a
//     context, whose names end in Context, return errors instead.
//
// Two things belong to a process as a whole. Feature gates do: a control plane that asks
// for others than those that run have is refused. And the log does: while control planes
// run, what the process logs through klog is kept instead of written, up to a limit, and
// shown by tests that fail, to whom it says what happened since their control plane was
// started. WithLog and the environment variable KCPTEST_LOG have it written at once.
// Programs that have given klog an output of their own keep it, also if they do so between
// control planes.
package kcptest
