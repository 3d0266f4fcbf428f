// Package apiresourceschema is the admission plugin for APIResourceSchemas: what a schema
// says has to be something that can be served once it is bound. It is checked as the
// CustomResourceDefinition that it becomes then, by upstream's rules, so that nobody who
// binds it is surprised. The name says which resource the schema is for, and what was
// created never changes.
package apiresourceschema
