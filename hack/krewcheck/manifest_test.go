package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// archives returns what a release has for a plugin on a system, by name.
func archives(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, system := range wanted {
		program := "bin/kubectl-ws"
		if strings.HasPrefix(system, "windows") {
			program += ".exe"
		}
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		files := tar.NewWriter(zipped)
		var err error
		for _, name := range []string{program, "LICENSE", "README.md"} {
			err = errors.Join(err, files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}))
		}
		if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
			t.Fatal(err)
		}
		all[strings.ReplaceAll(system, "/", "_")+".tar.gz"] = b.Bytes()
	}
	return all
}

func manifestOf(all map[string][]byte) string {
	var b strings.Builder
	b.WriteString("apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata: {name: ws}\n" +
		"spec:\n  version: v0.1.0\n  shortDescription: Go there\n  platforms:\n")
	for _, system := range wanted {
		archive := strings.ReplaceAll(system, "/", "_") + ".tar.gz"
		os, arch, _ := strings.Cut(system, "/")
		program := "bin/kubectl-ws"
		if os == "windows" {
			program += ".exe"
		}
		sum := sha256.Sum256(all[archive])
		fmt.Fprintf(&b, "  - uri: https://example.com/%s\n    sha256: %s\n    bin: %s\n    selector: {matchLabels: {os: %s, arch: %s}}\n",
			archive, hex.EncodeToString(sum[:]), program, os, arch)
	}
	return b.String()
}

func TestVerify(t *testing.T) {
	all := archives(t)
	read := func(name string) ([]byte, error) {
		if archive, ok := all[name]; ok {
			return archive, nil
		}
		return nil, fs.ErrNotExist
	}
	good := manifestOf(all)
	cases := map[string]struct {
		reason, file, old, new, want string
	}{
		"Good":          {reason: "a manifest that fits", file: "ws.yaml"},
		"File":          {reason: "krew finds a plugin by the name of the file", file: "kcp.yaml", want: "called"},
		"Version":       {reason: "versions begin with v", file: "ws.yaml", old: "v0.1.0", new: "0.1.0", want: "version"},
		"Windows":       {reason: "programs there end with .exe", file: "ws.yaml", old: "bin/kubectl-ws.exe", new: "bin/kubectl-ws", want: "windows/amd64: the program"},
		"Checksum":      {reason: "an archive of another build", file: "ws.yaml", old: "    sha256: ", new: "    sha256: 0", want: "checksum"},
		"Archive":       {reason: "an archive that is not there", file: "ws.yaml", old: "linux_arm64.tar.gz", new: "gone.tar.gz", want: "linux/arm64: file does not exist"},
		"NoPlatform":    {reason: "a platform that is left out", file: "ws.yaml", old: "arch: arm64", new: "arch: riscv64", want: "linux/arm64 is missing"},
		"NoDescription": {reason: "krew prints it in lists", file: "ws.yaml", old: "shortDescription: Go there", new: "shortDescription: ''", want: "description"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := errors.Join(verify(tc.file, []byte(strings.Replace(good, tc.old, tc.new, 1)), read)...)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: %v, want something about %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	if err := holds(archives(t)["linux_amd64.tar.gz"], "bin/kcp"); err == nil {
		t.Error("an archive without the program is taken")
	}
}
