package server_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/address"
)

// encryptionConfig encrypts all that is named with a key.
func encryptionConfig(t *testing.T, resources string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	content := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- resources: [" + resources + "]\n  providers:\n  - aesgcm: {keys: [{name: one, secret: " + key + "}]}\n  - identity: {}\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// onDisk says whether something can be read in the files below a directory.
func onDisk(t *testing.T, directory, text string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEncryption: what is to be encrypted cannot be read in the files of etcd, whether it
// was written by a request or in a batch, and can be read by the server.
func TestEncryption(t *testing.T) {
	root := t.TempDir()
	flag := "--encryption-provider-config=" + encryptionConfig(t, "secrets, workspaces.tenancy.kcp.io, logicalclusters.core.kcp.io")
	s := servertest.StartIn(t, root, flag)
	s.Workspace(t, "root", "hidden-workspace")
	client, err := kubernetes.NewForConfig(s.In(t, "base", "root:hidden-workspace"))
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, StringData: map[string]string{"key": "hidden-value"}}
	if _, err := client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "open"}, Data: map[string]string{"key": "open-value"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	etcd := filepath.Join(root, "etcd-server")
	if onDisk(t, etcd, "hidden-value") || onDisk(t, etcd, `"status":{"phase":"Ready"`) {
		t.Error("what was to be encrypted is not")
	}
	if !onDisk(t, etcd, "open-value") || !onDisk(t, etcd, "k8s:enc:aesgcm:v1:one:") {
		t.Error("the files of etcd hold neither what is encrypted nor what is not: this test looks in the wrong place")
	}

	again := servertest.StartIn(t, root, flag, "--encryption-provider-config-automatic-reload")
	if client, err = kubernetes.NewForConfig(again.In(t, "base", "root:hidden-workspace")); err != nil {
		t.Fatal(err)
	}
	read, err := client.CoreV1().Secrets("default").Get(t.Context(), "secret", metav1.GetOptions{})
	if err != nil || string(read.Data["key"]) != "hidden-value" {
		t.Errorf("the secret is %v, %v", read.Data, err)
	}
	config := again.Config(t, "base")
	config.Host = again.URL()
	if code, body := get(t, config, "/readyz?verbose"); code != http.StatusOK || !strings.Contains(string(body), "kms-provider") {
		t.Errorf("/readyz answers %d and says nothing of the keys: %s", code, body)
	}
}

// TestProfilerAddress: profiles are also served where nobody is asked who they are, if an
// operator wants that.
func TestProfilerAddress(t *testing.T) {
	serving := address.Free(t)
	s := servertest.Start(t, "--profiler-address="+serving)
	response, err := http.Get("http://" + serving + "/debug/pprof/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the profiler answers %d", response.StatusCode)
	}
	s.Stop()
	if response, err := http.Get("http://" + serving + "/debug/pprof/cmdline"); err == nil {
		_ = response.Body.Close()
		t.Error("the profiler outlives the server")
	}
}
