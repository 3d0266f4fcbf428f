// Package versions tests, in running servers, APIs that are bound in several versions: how
// objects are converted by rules and by webhooks, whatever a client does, and what becomes
// of the objects of consumers when a provider changes the version that is stored.
package versions
