// Package hook finds out who waits for an initializer or a terminator, and why nobody
// takes it away: its type is gone, nobody may act as it, or whoever may does not.
//
// Gather asks, Judge decides. What is known of hooks beyond that, how they are named,
// what their types say, who wrote last as one of them, is here for others too.
package hook
