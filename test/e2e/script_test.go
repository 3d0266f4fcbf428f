package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/test/programs"
)

const (
	scripts = "testdata/script"
	// deadline ends the scripts of an area that wait for something that never comes.
	deadline = 5 * time.Minute
)

// TestScripts runs every script below testdata/script, each folder as a subtest. The etcd
// is outside of the server, so that scripts can look into it, and so that whole behaviors
// are seen with such an etcd too; other tests use the one inside.
func TestScripts(t *testing.T) {
	s := &suite{etcd: servertest.StartEtcd(t), programs: programs.Directory(t)}
	s.server = servertest.Start(t, servertest.WithUsers(t), "--etcd-servers="+s.etcd.Server)
	for _, area := range areas(t) {
		t.Run(area, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join(scripts, area),
				Setup:               s.setup,
				Cmds:                s.commands(),
				RequireUniqueNames:  true,
				RequireExplicitExec: true,
				Deadline:            time.Now().Add(deadline),
			})
		})
	}
}

// areas returns the folders with scripts.
func areas(t *testing.T) []string {
	t.Helper()
	var areas []string
	err := filepath.WalkDir(scripts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == scripts {
			return err
		}
		area, err := filepath.Rel(scripts, path)
		areas = append(areas, area)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return areas
}

// suite is what all scripts share.
type suite struct {
	server   *servertest.Server
	etcd     *servertest.Etcd
	programs string
}

// setup gives a script its workspace and the programs.
func (s *suite) setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	path, err := s.newOrganization(context.Background())
	if err != nil {
		return fmt.Errorf("making a workspace for the script: %w", err)
	}
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := s.writeKubeconfig(kubeconfig, path); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("KUBECTL_COMMAND_HEADERS", "false")
	env.Setenv("PATH", s.programs+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("PROGRAMS", s.programs)
	env.Setenv("WS", path)
	env.Setenv("NAME", strings.TrimPrefix(path, "root:"))
	env.Setenv("SERVER", s.server.URL())
	return nil
}

// writeKubeconfig writes a kubeconfig with the contexts of the administrator, one named
// "script" for the workspace, which is the current one, and the users of servertest.
func (s *suite) writeKubeconfig(file, path string) error {
	config, err := clientcmd.LoadFromFile(s.server.Kubeconfig)
	if err != nil {
		return err
	}
	for i := 1; i <= servertest.Users; i++ {
		user := fmt.Sprintf("user-%d", i)
		config.AuthInfos[user] = &api.AuthInfo{Token: user + "-token"}
	}
	cluster := config.Clusters["base"].DeepCopy()
	cluster.Server = s.server.URL() + "/clusters/" + path
	config.Clusters["script"] = cluster
	config.Contexts["script"] = &api.Context{Cluster: "script", AuthInfo: "kcp-admin"}
	config.CurrentContext = "script"
	return clientcmd.WriteToFile(*config, file)
}
