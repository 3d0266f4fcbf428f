package tui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/test/terminal"
)

const (
	// many is how many workspaces there are.
	many = 10_000
	// mostMemory is what the program may take with them, in kilobytes.
	mostMemory = 60 * 1024
)

// crowd answers for a server with many workspaces in root. Making that many at a real
// one takes longer than anything that is looked at here.
type crowd struct{ url string }

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces") {
		http.NotFound(w, r)
		return
	}
	if r.URL.Query().Get("watch") != "" {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	list := tenancyv1alpha1.WorkspaceList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := from; i < min(from+limit, many); i++ {
		list.Items = append(list.Items, c.workspace(i))
	}
	if from+limit < many {
		list.Continue = strconv.Itoa(from + limit)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

func (c *crowd) workspace(i int) tenancyv1alpha1.Workspace {
	name := fmt.Sprintf("workspace-%05d", i)
	ws := tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", CreationTimestamp: metav1.Now()}}
	ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "universal"}
	ws.Spec.URL = c.url + "/clusters/root:" + name
	ws.Spec.Cluster = fmt.Sprintf("2kb1y3r0q9%06d", i)
	ws.Status.Phase = corev1alpha1.PhaseReady
	return ws
}

// TestManyWorkspaces measures the program with many workspaces: when it shows something,
// that it goes from one end to the other, and what memory it takes.
func TestManyWorkspaces(t *testing.T) {
	c := &crowd{}
	server := httptest.NewServer(c)
	c.url = server.URL
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: %q}}]\n", server.URL+"/clusters/root")
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, kubeconfig: kubeconfig}
	cmd := u.command("-i")
	began := time.Now()
	p := terminal.Start(t, cmd, 120, 40)
	// The watches of the server end when the program does.
	t.Cleanup(server.CloseClientConnections)
	p.See("→▾ root")
	t.Logf("something on the screen %s after the start of the process", p.FirstFrame().Sub(began))
	p.See(fmt.Sprintf("● live  %d workspaces", many+1))
	t.Logf("all workspaces %s after the start of the process", time.Since(began))
	// The last row is the home workspace.
	p.Press("G")
	p.See("→~ home", "workspace-09999")
	p.Press(up)
	p.See("→  ▸ workspace-09999")
	p.Press("/77\r")
	p.See("workspace-00077", "match")
	p.Press(escape)
	p.See("workspace-00076")
	memory := memoryOf(t, p.PID())
	t.Logf("%d MB of memory", memory/1024)
	if memory > mostMemory {
		t.Errorf("the program takes %d kB, at most %d are allowed", memory, mostMemory)
	}
	p.Press("q")
	p.Wait()
	whole(t, p)
}

// memoryOf returns the memory of a process that is in use for it alone, in kilobytes:
// what it reads of its own file can be dropped at any time.
func memoryOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		t.Skip("this system does not say what memory a process takes")
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes
		}
	}
	t.Fatalf("no memory in\n%s", status)
	return 0
}
