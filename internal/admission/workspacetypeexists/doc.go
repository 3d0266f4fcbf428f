// Package workspacetypeexists is the admission plugin that gives a new Workspace its
// type: the default of the parent if it names none, and where the type is if it does
// not say. It then checks that the creator may use the type and all it extends, and
// that type and parent go together.
//
// The type of a mounted workspace is none, and types never change, so only creation
// of others is looked at.
package workspacetypeexists
