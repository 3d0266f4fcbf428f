package logicalcluster

import (
	"context"
	"errors"
)

// ErrNoCluster says that a context carries no logical cluster. It marks a mistake
// in the program, never bad input: routing gives every request its cluster.
var ErrNoCluster = errors.New("the context carries no logical cluster")

type contextKey struct{}

// NewContext returns a copy of ctx that carries name.
func NewContext(ctx context.Context, name Name) context.Context {
	return context.WithValue(ctx, contextKey{}, name)
}

// FromContext returns the cluster that ctx carries. ok is false if there is none.
func FromContext(ctx context.Context) (name Name, ok bool) {
	name, ok = ctx.Value(contextKey{}).(Name)
	return name, ok && !name.Empty()
}

// Require returns the cluster that ctx carries, or ErrNoCluster.
func Require(ctx context.Context) (Name, error) {
	name, ok := FromContext(ctx)
	if !ok {
		return Name{}, ErrNoCluster
	}
	return name, nil
}
