// Package reservednames is the admission plugin that keeps names for the server.
package reservednames
