// Package workloads holds tests of the battery workload-types, as clients see it: what the
// types do without controllers, in workspaces that know nothing of each other.
package workloads
