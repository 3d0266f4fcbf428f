// Command krewcheck reads the krew manifests of a release that goreleaser has made in a
// folder, and fails if krew would not take them, or if they do not fit the archives there.
//
//	krewcheck bin/release
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := check(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func check(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: krewcheck FOLDER")
	}
	var manifests []string
	err := filepath.WalkDir(filepath.Join(args[0], "krew"), func(file string, entry os.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".yaml" && !entry.IsDir() {
			manifests = append(manifests, file)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(manifests) == 0 {
		return fmt.Errorf("there are no manifests in %s", args[0])
	}
	var problems []error
	for _, file := range manifests {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, problem := range verify(filepath.Base(file), content, func(archive string) ([]byte, error) {
			return os.ReadFile(filepath.Join(args[0], archive))
		}) {
			problems = append(problems, fmt.Errorf("%s: %w", filepath.Base(file), problem))
		}
	}
	return errors.Join(problems...)
}
