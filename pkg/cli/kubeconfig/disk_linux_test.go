package kubeconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// diskEnv tells the test that it runs in a namespace in which it may mount.
const diskEnv = "KUBECONFIG_TEST_DISK"

func TestEditOnFullDisk(t *testing.T) {
	if os.Getenv(diskEnv) != "" {
		editOnFullDisk(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEditOnFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), diskEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("this machine gives nobody a namespace of their own: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skip(string(out))
	}
}

func editOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(adminFile), 0o600); err != nil {
		t.Fatal(err)
	}
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 512))
	}
	_ = filler.Close()

	err = (&Flags{Path: file}).Store().Edit(t.Context(), switchTo(aURL))
	if err == nil || !strings.HasPrefix(err.Error(), "writing the kubeconfig: ") || !strings.HasSuffix(err.Error(), "no space left on device") {
		t.Errorf("the error says what is wrong, not: %v", err)
	}
	if got := read(t, file); got != adminFile {
		t.Errorf("the file is not what it was:\n%s", got)
	}
	expectNothingBeside(t, dir, "config", "filler")
}
