// Package manifests is what tests and benchmarks put into workspaces that is as good as any
// other: objects of two APIs, one that a workspace defines by itself and one that it binds,
// and a tree of workspaces in which both are used.
//
// Everything is text, each document with the line in front that separates it from the one
// before, so that manifests are put together by appending them. Documents that are needed
// come before those that need them. The package imports nothing of the server: what runs it
// as a program may use it too.
package manifests

import (
	"fmt"
	"strings"
)

// Cowboys is the definition of an API whose objects are in namespaces and have a string in
// spec.intent: the one that package servertest knows as a resource.
const Cowboys = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cowboys.wildwest.dev}
spec:
  group: wildwest.dev
  scope: Namespaced
  names: {plural: cowboys, singular: cowboy, kind: Cowboy, listKind: CowboyList}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {intent: {type: string}}}}}}
`

// Cowboy returns an object of Cowboys in the namespace that objects without one go to.
func Cowboy(name string) string {
	return fmt.Sprintf("---\napiVersion: wildwest.dev/v1alpha1\nkind: Cowboy\nmetadata: {name: %s}\nspec: {intent: ride}\n", name)
}

// Sheriffs returns an export of that name, of an API whose objects are in no namespace and
// have nothing that a schema knows, with its schema. It claims to get and list resources of
// the core group.
func Sheriffs(claimed ...string) string {
	var claims strings.Builder
	if len(claimed) > 0 {
		claims.WriteString("  permissionClaims:\n")
	}
	for _, resource := range claimed {
		fmt.Fprintf(&claims, "  - {resource: %s, verbs: [get, list]}\n", resource)
	}
	return sheriffs + claims.String()
}

const sheriffs = `---
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: today.sheriffs.wild.wild.west}
spec:
  group: wild.wild.west
  scope: Cluster
  names: {plural: sheriffs, singular: sheriff, kind: Sheriff, listKind: SheriffList}
  versions:
  - {name: v1, served: true, storage: true, schema: {type: object}}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: sheriffs}
spec:
  resources:
  - {group: wild.wild.west, name: sheriffs, schema: today.sheriffs.wild.wild.west, storage: {crd: {}}}
`

// Sheriff returns an object of Sheriffs.
func Sheriff(name string) string {
	return fmt.Sprintf("---\napiVersion: wild.wild.west/v1\nkind: Sheriff\nmetadata: {name: %s}\n", name)
}

// Team returns a type of workspaces of that name, which bind Sheriffs from the workspace at
// path.
func Team(path string) string {
	return fmt.Sprintf(`---
apiVersion: tenancy.kcp.io/v1alpha1
kind: WorkspaceType
metadata: {name: team}
spec:
  extend: {with: [{name: universal, path: root}]}
  defaultAPIBindings: [{path: %q, export: sheriffs}]
`, path)
}

// Workspace returns a workspace of a type in the workspace at path.
func Workspace(name, path, kind string) string {
	return fmt.Sprintf("---\napiVersion: tenancy.kcp.io/v1alpha1\nkind: Workspace\nmetadata: {name: %s}\nspec: {type: {path: %q, name: %s}}\n", name, path, kind)
}

// Platform returns what is to be put into the workspace at path: both APIs, and so many
// teams, called team-0 and so on, with as many cowboys beside them.
func Platform(path string, teams int) string {
	var all strings.Builder
	all.WriteString(Cowboys + Sheriffs() + Team(path))
	for i := range teams {
		all.WriteString(Workspace(fmt.Sprintf("team-%d", i), path, "team"))
		all.WriteString(Cowboy(fmt.Sprintf("cowboy-%d", i)))
	}
	return all.String()
}
