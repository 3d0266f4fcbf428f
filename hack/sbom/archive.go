package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
)

// folder is where archives have their program.
const folder = "bin"

var errNoProgram = errors.New("there is no program in it, a file below " + folder)

// programIn returns the one program in an archive, by the file's name a zip or a tar.gz.
func programIn(file string, archive []byte) (name string, program []byte, err error) {
	if strings.HasSuffix(file, ".zip") {
		return programInZip(archive)
	}
	return programInTar(archive)
}

func programInTar(archive []byte) (name string, program []byte, err error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return "", nil, err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return "", nil, errNoProgram
		}
		if err != nil {
			return "", nil, err
		}
		if header.Typeflag == tar.TypeReg && path.Dir(path.Clean(header.Name)) == folder {
			program, err = io.ReadAll(files)
			return path.Base(header.Name), program, err
		}
	}
}

func programInZip(archive []byte) (name string, program []byte, err error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return "", nil, err
	}
	for _, file := range files.File {
		if path.Dir(path.Clean(file.Name)) != folder || file.FileInfo().IsDir() {
			continue
		}
		content, err := file.Open()
		if err != nil {
			return "", nil, err
		}
		defer content.Close()
		program, err = io.ReadAll(content)
		return path.Base(file.Name), program, err
	}
	return "", nil, errNoProgram
}
