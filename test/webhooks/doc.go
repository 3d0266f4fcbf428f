// Package webhooks tests admission webhooks through the API of whole servers: what
// upstream's own tests of webhooks show, under the same names, and what more there is to
// them in a server of many workspaces.
package webhooks
