package table

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/display"
)

func TestPrint(t *testing.T) {
	workspaces := []Column{{Title: "NAME", Shrink: Cut}, {Title: "TYPE", Shrink: Unqualify}, {Title: "PHASE"}, {Title: "AGE", Shrink: Drop}, {Title: "URL", Shrink: Drop}}
	rows := [][]string{
		{"payments", "root:acme:team", "Ready", "12d", "https://host/clusters/root:acme:payments"},
		{"payments-europe-west", "root:universal", "Ready", "3m", "https://host/clusters/root:acme:payments-europe-west"},
	}
	cases := map[string]struct {
		reason    string
		display   display.Display
		columns   []Column
		rows      [][]string
		noHeaders bool
		want      string
	}{
		"Unlimited": {
			reason: "nothing is cut", columns: workspaces, rows: rows,
			want: `NAME                   TYPE             PHASE   AGE   URL
payments               root:acme:team   Ready   12d   https://host/clusters/root:acme:payments
payments-europe-west   root:universal   Ready   3m    https://host/clusters/root:acme:payments-europe-west
`,
		},
		"NoURL": {
			reason: "the URL goes first", display: display.Display{Width: 80}, columns: workspaces, rows: rows,
			want: `NAME                   TYPE             PHASE   AGE
payments               root:acme:team   Ready   12d
payments-europe-west   root:universal   Ready   3m
`,
		},
		"NoPath": {
			reason: "then the age, then the path of the type", display: display.Display{Width: 42}, columns: workspaces, rows: rows,
			want: `NAME                   TYPE        PHASE
payments               team        Ready
payments-europe-west   universal   Ready
`,
		},
		"Cut": {
			reason: "then names lose their middle", display: display.Display{Width: 34}, columns: workspaces, rows: rows,
			want: `NAME             TYPE        PHASE
payments         team        Ready
payment…e-west   universal   Ready
`,
		},
		"Narrow": {
			reason: "in the end everything does", display: display.Display{Width: 20, ASCII: true}, columns: workspaces, rows: rows,
			want: `NAME   TYPE    PHASE
paym   team    Ready
paym   u...l   Ready
`,
		},
		"Whole": {
			reason: "what is typed again is never cut; a name that would be nearly nothing goes", display: display.Display{Width: 30},
			columns: []Column{{Title: "ID", Shrink: Whole}, {Title: "URL"}, {Title: "DIRECTORY", Shrink: Cut}},
			rows:    [][]string{{"an-identifier", "https://host", "/a/long/way/down"}},
			want:    "ID              URL\nan-identifier   https://host\n",
		},
		"WholeAndCut": {
			reason: "what must stay is cut before it wraps", display: display.Display{Width: 24},
			columns: []Column{{Title: "ID", Shrink: Whole}, {Title: "URL"}, {Title: "DIRECTORY", Shrink: Cut}},
			rows:    [][]string{{"an-identifier", "https://host", "/a/long/way/down"}},
			want:    "ID              URL\nan-identifier   http…ost\n",
		},
		"NoHeaders": {
			reason: "for scripts", columns: []Column{{Title: "LONG-TITLE"}, {Title: "B"}}, rows: [][]string{{"a", "b"}}, noHeaders: true,
			want: "a   b\n",
		},
		"Cells": {
			reason: "columns are aligned by cells, not by characters", columns: []Column{{Title: "A"}, {Title: "B"}},
			rows: [][]string{{"支付", "x"}, {"e\u0301", "y"}, {"", "z"}},
			want: "A      B\n支付   x\ne\u0301      y\n       z\n",
		},
		"Hostile": {
			reason: "what a server sends does not drive the terminal", display: display.Display{Color: true}, columns: []Column{{Title: "A"}},
			rows: [][]string{{"\x1b[2Jx\x1b[31mred\x1b[0m\n"}},
			want: "A\n\uFFFD[2Jx\x1b[31mred\x1b[0m\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			table := New(tc.display, tc.columns...)
			table.NoHeaders = tc.noHeaders
			for _, row := range tc.rows {
				table.Row(row...)
			}
			var out bytes.Buffer
			if err := table.Print(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
