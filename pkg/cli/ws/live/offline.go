package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/tui"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/cli/tui/source"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// RunFile shows the tree that is in a bundle. It needs no server and no kubeconfig, and
// nothing can be changed.
func RunFile(ctx context.Context, finder *target.Finder, name string) error {
	b, err := read(name)
	if err != nil {
		return err
	}
	start, err := logicalcluster.ParsePath(b.Manifest.Start)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	look := finder.Display.For(finder.Streams.Out)
	_, err = tui.Run(ctx, tui.Config{
		Streams: finder.Streams,
		Model: model.Options{
			Display: look, Start: start, Server: display.Line(b.Manifest.Server), Now: time.Now(),
			Clipboard: takesClipboard(os.Getenv), Offline: display.Line(filepath.Base(name)),
		},
		Source: &source.File{Bundle: b},
		Actions: tui.Actions{
			Why: func(_ context.Context, s model.Subject, width int) (string, error) {
				return diagnosisIn(b, look, s, width)
			},
			Walk: func(ctx context.Context, _ logicalcluster.Path, found func([]model.Item)) error {
				return walkIn(ctx, b, found)
			},
		},
	})
	return err
}

func read(name string) (*bundle.Bundle, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	b, err := bundle.Read(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return b, nil
}

// diagnosisIn returns what was found out when the file was written.
func diagnosisIn(b *bundle.Bundle, look display.Display, s model.Subject, width int) (string, error) {
	d := b.Diagnosis(s.Path)
	if d == nil {
		return "", errors.New("nobody asked that when the file was written")
	}
	look.Width = width
	var text bytes.Buffer
	d.Print(&text, look)
	return text.String(), nil
}

// walkIn finds the workspaces in a bundle.
func walkIn(ctx context.Context, b *bundle.Bundle, found func([]model.Item)) error {
	for _, entry := range b.Manifest.Workspaces {
		p, err := logicalcluster.ParsePath(entry.Path)
		if err != nil {
			return err
		}
		below, err := b.Workspaces(ctx, p)
		if err != nil {
			continue
		}
		items := make([]model.Item, len(below))
		for i := range below {
			items[i] = source.ItemOf(p, &below[i])
		}
		found(items)
	}
	return nil
}
