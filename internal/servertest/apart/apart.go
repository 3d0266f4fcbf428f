//go:build linux

// Package apart runs tests in namespaces of their own, in which anybody may mount and there
// is no network: for what happens on machines with a full disk, one that nobody may write
// to, or no way out.
//
// Not every machine gives namespaces to everybody, and not every one lets file systems be
// mounted in them. Tests are skipped there, and say so.
package apart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// variable is set in the process that is apart.
const variable = "KCP_TEST_APART"

// Run runs a test, which is not part of another one, once more in a process that is apart,
// and returns true in that. Where it returns false everything is said, and the test is to
// return.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:gosec // because it is this program
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.Process == nil:
		t.Skipf("this machine gives nobody a namespace of their own: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skip(string(out))
	}
	return false
}

// Mount mounts a file system in memory until the test ends, and returns where. size is how
// much it holds, such as 16k; flags are those of mount(2).
func Mount(t *testing.T, size string, flags uintptr) string {
	t.Helper()
	directory := t.TempDir()
	if err := syscall.Mount("tmpfs", directory, "tmpfs", flags, "size="+size); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(directory, 0) })
	return directory
}

// Fill leaves no room in the file system of a directory, by a file of the given name in it.
func Fill(t *testing.T, directory, name string) {
	t.Helper()
	file, err := os.Create(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	_ = file.Close()
}
