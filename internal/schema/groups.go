package schema

import "k8s.io/apimachinery/pkg/util/sets"

// undottedGroups are the groups of Kubernetes without a dot in their names.
var undottedGroups = sets.New(coreGroup, "apps", "autoscaling", "batch", "extensions", "policy")

// MayLackDot says whether group, as a CustomResourceDefinition calls it, may do without a
// dot in its name. Upstream refuses such groups to definitions, because it serves them
// itself. A workspace has none of their workloads, so that whoever wants them there brings
// definitions or binds them. The core group is called so in definitions only.
func MayLackDot(group string) bool { return undottedGroups.Has(group) }
