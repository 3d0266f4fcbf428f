package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		reason          string
		state           state
		install, remove []action
	}{
		"Absent":  {"it is made, and there is nothing to remove", absent, []action{{file: "x", create: true}}, nil},
		"Linked":  {"it is there", linked, []action{{file: "x", why: "there already"}}, []action{{file: "x", remove: true}}},
		"Stale":   {"it is made again", stale, []action{{file: "x", remove: true, create: true}}, []action{{file: "x", remove: true}}},
		"Own":     {"it is what the link would stand in for", own, []action{{file: "x", why: "the plugin itself, left as it is"}}, []action{{file: "x", why: "the plugin itself, left as it is"}}},
		"Foreign": {"it is somebody else's", foreign, []action{{file: "x", why: "another program, left as it is"}}, []action{{file: "x", why: "another program, left as it is"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			links := []link{{file: "x", state: tc.state}}
			if diff := cmp.Diff(tc.install, plan(links, false), cmp.AllowUnexported(action{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.remove, plan(links, true), cmp.AllowUnexported(action{})); diff != "" {
				t.Errorf("%s, uninstalling (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLinksFor(t *testing.T) {
	want := []string{"kubectl-create-workspace", "kubectl_complete-create_workspace", "kubectl_complete-kcp", "kubectl_complete-ws"}
	if diff := cmp.Diff(want, linksFor([]string{"kcp", "ws", "create-workspace"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetFrom(t *testing.T) {
	for folder, want := range map[string]string{"/opt/bin": "kubectl-kcp", "/opt/bin/": "kubectl-kcp", "/usr/bin": "/opt/bin/kubectl-kcp"} {
		if got := targetFrom(folder, "/opt/bin/kubectl-kcp"); got != want {
			t.Errorf("from %s the program is %q, want %q", folder, got, want)
		}
	}
}

func TestShellOf(t *testing.T) {
	for program, want := range map[string]string{"/bin/bash": "bash", "/usr/bin/zsh": "zsh", "pwsh.exe": "powershell", "/bin/sh": "", "": ""} {
		if got := shellOf(program); got != want {
			t.Errorf("%q is %q, want %q", program, got, want)
		}
	}
}
