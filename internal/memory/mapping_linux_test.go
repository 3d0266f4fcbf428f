package memory

import (
	"testing"
)

func TestParseMapping(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want mapping
		ok   bool
	}{
		"File": {
			"7f0c00000000-7f0e80000000 r--s 00000000 fe:00 1234                       /var/lib/kcp/etcd/member/snap/db\n",
			mapping{0x7f0c00000000, 0x7f0e80000000, "r--s", "/var/lib/kcp/etcd/member/snap/db"}, true,
		},
		"Space": {
			"7f0c00000000-7f0e80000000 r--s 00000000 fe:00 1234                       /var/lib/with a space/db\n",
			mapping{0x7f0c00000000, 0x7f0e80000000, "r--s", "/var/lib/with a space/db"}, true,
		},
		"Program": {
			"00400000-02a00000 r-xp 00000000 fe:00 99                                 /usr/bin/kcp\n",
			mapping{0x400000, 0x2a00000, "r-xp", "/usr/bin/kcp"}, true,
		},
		"Anonymous": {line: "c000000000-c004000000 rw-p 00000000 00:00 0\n"},
		"Kernel":    {line: "7ffc0-7ffc1 r--s 00000000 00:00 0                                        [vvar]\n"},
		"Foreign":   {line: "x-y r--s 00000000 fe:00 1234 /db\n"},
		"Backwards": {line: "02a00000-00400000 r--s 00000000 fe:00 1234 /db\n"},
		"Empty":     {},
	} {
		if got, ok := parseMapping(tc.line); got != tc.want || ok != tc.ok {
			t.Errorf("%s: got %+v, %t", name, got, ok)
		}
	}
}

func TestIsProgram(t *testing.T) {
	const self = "/usr/bin/kcp"
	for m, want := range map[mapping]bool{
		{mode: "r-xp", file: self}:                true,
		{mode: "r--p", file: self}:                true,
		{mode: "rw-p", file: self}:                false,
		{mode: "r-xp", file: "/usr/lib/libc.so"}:  false,
		{mode: "r-xp", file: self + " (deleted)"}: false,
	} {
		if got := m.isProgram(self); got != want {
			t.Errorf("%+v: %t", m, got)
		}
	}
	if (mapping{mode: "r-xp"}).isProgram("") {
		t.Error("a program that must not be touched has no name")
	}
}
