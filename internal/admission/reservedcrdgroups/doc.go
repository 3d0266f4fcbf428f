// Package reservedcrdgroups is the admission plugin that keeps the API groups of the
// system out of the CustomResourceDefinitions of workspaces.
package reservedcrdgroups
