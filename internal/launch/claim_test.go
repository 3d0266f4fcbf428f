package launch

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/pkg/server/options"
)

// completed returns the options of a server in the directory root on any free port,
// unless change says otherwise.
func completed(t *testing.T, root string, change func(*options.Options)) *options.Completed {
	t.Helper()
	o := options.NewOptions()
	o.RootDirectory = root
	o.Serving.BindAddress = net.IPv4(127, 0, 0, 1)
	o.Serving.BindPort = 0
	if change != nil {
		change(o)
	}
	c, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func take(t *testing.T, c *options.Completed) *Claim {
	t.Helper()
	claim, err := Take(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = claim.Release() })
	return claim
}

func TestTake(t *testing.T) {
	root := filepath.Join(t.TempDir(), ".kcp")
	claim := take(t, completed(t, root, nil))
	prepared := claim.Prepared
	if want := "https://" + prepared.Listener.Addr().String(); prepared.URLs.Base != want || prepared.URLs.External != want {
		t.Errorf("URLs are %+v, want %s", prepared.URLs, want)
	}
	if prepared.Certificate.CertFile != filepath.Join(root, "apiserver.crt") {
		t.Errorf("the certificate is in %s", prepared.Certificate.CertFile)
	}
	if !claim.NewDirectory() {
		t.Error("a directory that was just made is not new")
	}
	if info, err := prepared.Serving.Info(prepared.Listener, prepared.Certificate); err != nil || info.Cert == nil {
		t.Errorf("TLS cannot be served: %v", err)
	}
	holder, held, err := rootdir.HolderOf(root)
	if err != nil || !held || holder.PID != os.Getpid() || holder.URL != prepared.URLs.Base {
		t.Errorf("the directory says it is held by %+v, %t (%v)", holder, held, err)
	}

	if _, err := Take(t.Context(), completed(t, root, nil)); !errors.As(err, new(*rootdir.InUseError)) {
		t.Errorf("a second server on the same directory: %v", err)
	}

	if err := claim.Release(); err != nil {
		t.Fatal(err)
	}
	again := take(t, completed(t, root, nil))
	if again.NewDirectory() {
		t.Error("a directory that was used before is new")
	}
	if !bytes.Equal(again.Prepared.Certificate.CertPEM, prepared.Certificate.CertPEM) {
		t.Error("a restart changed the certificate")
	}
}

func TestPortInUse(t *testing.T) {
	directory := t.TempDir()
	first := take(t, completed(t, filepath.Join(directory, "first"), nil))
	port := first.Prepared.Listener.Addr().(*net.TCPAddr).Port

	second := filepath.Join(directory, "second")
	_, err := Take(t.Context(), completed(t, second, func(o *options.Options) { o.Serving.BindPort = port }))
	var inUse *PortInUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("a port in use: %v", err)
	}
	if _, err := os.Stat(second); !os.IsNotExist(err) {
		t.Errorf("a start that failed left a directory behind (%v)", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	want := Owner{PID: os.Getpid(), Name: inUse.Owner.Name, RootDirectory: filepath.Join(directory, "first")}
	if inUse.Owner != want {
		t.Errorf("the port is said to be in use by %+v, want %+v", inUse.Owner, want)
	}
}

func TestPortInUseErrorText(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		owner  Owner
		want   string
	}{
		"Kcp":     {"another kcp is named with its directory", Owner{PID: 4711, Name: "kcp", RootDirectory: "/home/adam/demo/.kcp"}, "127.0.0.1:6443 is in use by kcp pid 4711 (/home/adam/demo/.kcp)"},
		"Other":   {"another program is named", Owner{PID: 80, Name: "nginx"}, "127.0.0.1:6443 is in use by nginx pid 80"},
		"Unknown": {"who listens cannot be found out everywhere", Owner{}, "127.0.0.1:6443 is in use"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&PortInUseError{Address: "127.0.0.1:6443", Owner: tc.owner}).Error(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestAuditLog: where the audit log cannot be written is told before anything is made, and
// looking leaves no trace.
func TestAuditLog(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, path, want string
	}{
		"NewFile":   {"it is made", "audit.log", ""},
		"NewFolder": {"so are folders", "a/b/audit.log", ""},
		"There":     {"it is gone on with", "file", ""},
		"Folder":    {"a folder is no file", "folder", "is a directory"},
		"InFile":    {"a file is no folder", "file/audit.log", "not a directory"},
		"FarInFile": {"nor does it have folders", "file/a/b/audit.log", "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.Mkdir(filepath.Join(directory, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(directory, tc.path)
			want := ""
			if tc.want != "" {
				want = "--audit-log-path=" + path + " cannot be written: " + tc.want
			}
			got := ""
			claim, err := Take(t.Context(), completed(t, filepath.Join(directory, ".kcp"), func(o *options.Options) { o.Audit.LogOptions.Path = path }))
			if err != nil {
				got = err.Error()
			} else if err := claim.Abandon(); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, want)
			}
			left, err := filepath.Glob(filepath.Join(directory, "*"))
			if err != nil || len(left) != 2 {
				t.Errorf("%s: there is %v, %v", tc.reason, left, err)
			}
		})
	}
}

func TestWithoutRootDirectory(t *testing.T) {
	claim := take(t, completed(t, "", func(o *options.Options) {
		o.Etcd.Embedded.Directory = t.TempDir()
		o.Batteries.Included = []string{"-admin"}
	}))
	certificate := claim.Prepared.Certificate
	if certificate.CertFile != "" || len(certificate.CertPEM) == 0 {
		t.Errorf("without a root directory the certificate is in %q, %d bytes", certificate.CertFile, len(certificate.CertPEM))
	}
	if _, err := claim.Prepared.Serving.Info(claim.Prepared.Listener, certificate); err != nil {
		t.Errorf("TLS cannot be served: %v", err)
	}
}

func TestGivenCertificate(t *testing.T) {
	directory := t.TempDir()
	first := take(t, completed(t, filepath.Join(directory, "a"), nil)).Prepared.Certificate
	root := filepath.Join(directory, "b")
	claim := take(t, completed(t, root, func(o *options.Options) {
		o.Serving.ServerCert.CertKey.CertFile = first.CertFile
		o.Serving.ServerCert.CertKey.KeyFile = first.KeyFile
	}))
	if !bytes.Equal(claim.Prepared.Certificate.CertPEM, first.CertPEM) {
		t.Error("the certificate is not the one that was given")
	}
	if _, err := os.Stat(filepath.Join(root, "apiserver.crt")); !os.IsNotExist(err) {
		t.Error("a certificate was made although one was given")
	}
}
