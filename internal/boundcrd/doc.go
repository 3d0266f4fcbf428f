// Package boundcrd knows what bound schemas are served by: the definitions that
// APIResourceSchemas become, remembered so that a schema is read and hashed once however
// many have bound it, and where the objects of a bound resource are stored.
package boundcrd
