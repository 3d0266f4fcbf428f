// Command krewcheck is about the manifests by which krew, an index of kubectl plugins, finds
// ours.
//
//	krewcheck -write plugins                             writes their templates, a step of `make generate`
//	krewcheck [-systems linux/amd64] -release bin/release   checks those of a release
//
// Templates are what goreleaser.yaml says. The check fails if krew would not take a manifest
// that goreleaser has made, if it does not fit the archives beside it, and if it is not what
// the template in plugins comes to.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	goreleaserFile  = "goreleaser.yaml"
	templatesFolder = "plugins"
)

func main() {
	write := flag.String("write", "", "folder for the templates")
	release := flag.String("release", "", "folder of the release to check")
	systems := flag.String("systems", strings.Join(allSystems, ","), "what the release is for")
	flag.Parse()
	var err error
	switch {
	case *write != "" && *release == "":
		err = writeTemplates(*write)
	case *release != "" && *write == "":
		err = check(*release, strings.Split(*systems, ","))
	default:
		err = errors.New("usage: krewcheck -write FOLDER | [-systems OS/ARCH,...] -release FOLDER")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// writeTemplates writes the templates into a folder.
func writeTemplates(folder string) error {
	content, err := os.ReadFile(goreleaserFile)
	if err != nil {
		return err
	}
	all, err := templates(content)
	if err != nil {
		return fmt.Errorf("%s: %w", goreleaserFile, err)
	}
	old, err := filepath.Glob(filepath.Join(folder, "*"+templateSuffix))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // because everybody may read them
			return err
		}
	}
	return nil
}

// check checks the manifests in the folder of a release for some systems.
func check(folder string, systems []string) error {
	described, err := filepath.Glob(filepath.Join(templatesFolder, "*"+templateSuffix))
	if err != nil {
		return err
	}
	if len(described) == 0 {
		return fmt.Errorf("there are no templates in %s", templatesFolder)
	}
	var problems []error
	for _, file := range described {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(file), templateSuffix)
		content, err := os.ReadFile(filepath.Join(folder, "krew", name+".yaml"))
		if err != nil {
			return err
		}
		for _, problem := range verify(name+".yaml", content, string(text), systems, func(archive string) ([]byte, error) {
			return os.ReadFile(filepath.Join(folder, archive))
		}) {
			problems = append(problems, fmt.Errorf("%s: %w", name, problem))
		}
	}
	return errors.Join(problems...)
}
