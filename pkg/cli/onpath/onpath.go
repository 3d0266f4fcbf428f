// Package onpath finds out which programs a name on the command line leads to, and which
// others of the same name are never reached.
package onpath

import (
	"os"
	"path/filepath"
	"runtime"
)

// Program is a file that could be run by a name.
type Program struct {
	// File is where it was found, Target what a link there leads to, which is the same
	// for other files. It is empty if the link leads nowhere.
	File, Target string
}

// Folders returns the folders of the environment variable PATH, each once.
func Folders() []string {
	var folders []string
	seen := map[string]bool{}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if folder == "" {
			folder = "."
		}
		folder = filepath.Clean(folder)
		if !seen[folder] {
			seen[folder] = true
			folders = append(folders, folder)
		}
	}
	return folders
}

// Find returns the programs called name in folders. The first one is what runs, the
// others are shadowed by it.
func Find(name string, folders []string) []Program {
	var found []Program
	for _, folder := range folders {
		file := filepath.Join(folder, FileName(name))
		info, err := os.Lstat(file)
		if err != nil || info.IsDir() {
			continue
		}
		target, err := filepath.EvalSymlinks(file)
		if err != nil {
			found = append(found, Program{File: file})
			continue
		}
		if info, err = os.Stat(target); err == nil && executable(info) {
			found = append(found, Program{File: file, Target: target})
		}
	}
	return found
}

// FileName returns the name of the file that a program of that name is in.
func FileName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func executable(info os.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}
