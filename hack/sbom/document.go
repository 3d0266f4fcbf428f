package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
)

// spdx is a document in the format of SPDX 2.3, with the fields that we use of it.
type spdx struct {
	Version           string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	ID                string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creationInfo   `json:"creationInfo"`
	Packages          []spdxPackage  `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creationInfo struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string        `json:"SPDXID"`
	Name             string        `json:"name"`
	VersionInfo      string        `json:"versionInfo,omitempty"`
	FileName         string        `json:"packageFileName,omitempty"`
	DownloadLocation string        `json:"downloadLocation"`
	FilesAnalyzed    bool          `json:"filesAnalyzed"`
	LicenseConcluded string        `json:"licenseConcluded"`
	LicenseDeclared  string        `json:"licenseDeclared"`
	CopyrightText    string        `json:"copyrightText"`
	Checksums        []checksum    `json:"checksums,omitempty"`
	ExternalRefs     []externalRef `json:"externalRefs,omitempty"`
	Comment          string        `json:"comment,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	documentID  = "SPDXRef-DOCUMENT"
	archiveID   = "SPDXRef-Archive"
	noAssertion = "NOASSERTION"
	ownLicense  = "Apache-2.0"
)

// document describes the archive and the modules in its program.
func document(file string, archive []byte, program, created string, info *debug.BuildInfo) *spdx {
	sum := sha256.Sum256(archive)
	hash := hex.EncodeToString(sum[:])
	d := &spdx{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: file,
		DocumentNamespace: "https://" + info.Main.Path + "/spdx/" + file + "-" + hash,
		CreationInfo:      creationInfo{Created: created, Creators: []string{"Tool: " + info.Main.Path + "/hack/sbom"}},
		Packages: []spdxPackage{{
			ID: archiveID, Name: program, FileName: file, DownloadLocation: noAssertion,
			LicenseConcluded: ownLicense, LicenseDeclared: ownLicense, CopyrightText: noAssertion,
			Checksums: []checksum{{"SHA256", hash}},
		}},
		Relationships: []relationship{{documentID, "DESCRIBES", archiveID}},
	}
	d.add("SPDXRef-Go", spdxPackage{Name: "stdlib", VersionInfo: strings.TrimPrefix(info.GoVersion, "go"), ExternalRefs: purl("golang/stdlib", strings.TrimPrefix(info.GoVersion, "go"))})
	for i, module := range info.Deps {
		// What is linked is the replacement, if there is one.
		module = cmp.Or(module.Replace, module)
		d.add(fmt.Sprintf("SPDXRef-Module-%d", i+1), modulePackage(module))
	}
	return d
}

// add adds a package that the program contains.
func (d *spdx) add(id string, p spdxPackage) {
	p.ID = id
	p.DownloadLocation = cmp.Or(p.DownloadLocation, noAssertion)
	p.LicenseConcluded, p.LicenseDeclared, p.CopyrightText = noAssertion, noAssertion, noAssertion
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, relationship{archiveID, "CONTAINS", id})
}

func modulePackage(module *debug.Module) spdxPackage {
	p := spdxPackage{
		Name: module.Path, VersionInfo: module.Version, ExternalRefs: purl("golang/"+module.Path, module.Version),
		DownloadLocation: "https://proxy.golang.org/" + escapePath(module.Path) + "/@v/" + escapePath(module.Version) + ".zip",
	}
	// The sum is of the names and content of the module's files, not of the zip.
	if encoded, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
		if sum, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			p.Comment = "go.sum h1 (dirhash of the module's files): " + hex.EncodeToString(sum)
		}
	}
	return p
}

func purl(path, version string) []externalRef {
	return []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")}}
}

// escapePath writes a module path as the module proxy has it, where upper case is "!"
// and lower case.
func escapePath(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
