// Package storagemigration rewrites the objects of bound APIs that are stored in another
// version than the one that is written now.
//
// When the schema of an export is replaced by one that stores another version, objects are
// converted whenever they are read, which works as long as the schema has the version that
// they are stored in. Rewritten, they need no conversion, and a later schema may leave the
// old version out.
//
// There is one controller for all workspaces. It looks at the objects of a resource of a
// workspace when what the workspace has bound changes (DefinitionsChanged), and hears from
// the Feed of objects that are in another version: all there are after a start, and those
// that requests under way write when the schema is replaced. It remembers nothing of a
// workspace but while it is at work there, and it can be ended at any time: each object is
// rewritten by itself, compared with what is stored, so that no write of a client is lost.
//
// It begins when requests that knew nothing of the new version have come to their end, takes
// its time, and takes turns between workspaces. Objects that cannot be converted
// stay as they are and are told of in the log and in metrics; they are looked at again
// when they, or what is bound, have changed. Where a webhook that converts cannot be
// reached it is asked again later.
package storagemigration
