package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Labels.
const (
	// ShardNameLabelKey is the label of a Shard that repeats its name, so that
	// selectors can pick it.
	ShardNameLabelKey = "name"

	// RegionLabelKey is the label of a Shard that says where it is. Scheduling copies
	// it to the Workspace.
	RegionLabelKey = "region"

	// InitializerLabelPrefix begins the labels of a LogicalCluster that stand for the
	// initializers in its status; see InitializerLabel.
	InitializerLabelPrefix = "initializer.internal.kcp.io/"

	// TerminatorLabelPrefix begins the labels of a LogicalCluster that stand for the
	// terminators in its status; see TerminatorLabel.
	TerminatorLabelPrefix = "terminator.internal.kcp.io/"
)

// Annotations.
const (
	// ShardAnnotationKey names the shard of a LogicalCluster or Workspace.
	ShardAnnotationKey = "core.kcp.io/shard"

	// InactiveAnnotationKey takes a logical cluster offline if its value is
	// InactiveAnnotationValue.
	InactiveAnnotationKey = "core.kcp.io/inactive"

	// LegacyInactiveAnnotationKey is the older name of InactiveAnnotationKey. Either
	// counts.
	LegacyInactiveAnnotationKey = "internal.kcp.io/inactive"

	// InactiveAnnotationValue is the only value of InactiveAnnotationKey that has an
	// effect.
	InactiveAnnotationValue = "true"

	// MaxTotalObjectsAnnotationKey is the number of objects a logical cluster may
	// hold, in place of the shard's default.
	MaxTotalObjectsAnnotationKey = "core.kcp.io/max-total-objects"

	// UnschedulableAnnotationKey keeps new logical clusters off a Shard, whatever its
	// value.
	UnschedulableAnnotationKey = "experimental.core.kcp.io/unschedulable"

	// ReplicateAnnotationKey lists, sorted and separated by commas, the groups for
	// whose sake other shards need a copy of the object.
	ReplicateAnnotationKey = "internal.kcp.io/replicate"

	// MigratingAnnotationKey marks a LogicalCluster that is moving between shards.
	MigratingAnnotationKey = "internal.kcp.io/migrating"

	// CreateOnlyAnnotationKey with the value "true" marks a bootstrapped object that is
	// never updated again.
	CreateOnlyAnnotationKey = "bootstrap.kcp.io/create-only"

	// BatteryAnnotationKey names the battery a bootstrapped object belongs to.
	BatteryAnnotationKey = "bootstrap.kcp.io/battery"
)

// Finalizers.
const (
	// LogicalClusterFinalizer keeps the owner of a logical cluster until the logical
	// cluster is gone.
	LogicalClusterFinalizer = "core.kcp.io/logicalcluster"

	// DeletionFinalizer keeps a LogicalCluster until its content is gone.
	DeletionFinalizer = "core.kcp.io/logicalcluster-deletion"

	// TerminatorsFinalizer keeps a LogicalCluster while terminators are left.
	TerminatorsFinalizer = "kcp.io/has-terminators"
)

// InitializerLabel returns the label that makes the logical clusters findable that
// still wait for initializer. Identifiers are no label values (they have colons and
// any length), so both sides are made of their SHA-224.
func InitializerLabel(initializer Initializer) (key, value string) {
	return hashedLabel(InitializerLabelPrefix, string(initializer))
}

// TerminatorLabel is InitializerLabel for terminators.
func TerminatorLabel(terminator Terminator) (key, value string) {
	return hashedLabel(TerminatorLabelPrefix, string(terminator))
}

// hashedLabel returns the hash of identifier as value, and as key the prefix with as
// much of the hash as makes 63 characters.
func hashedLabel(prefix, identifier string) (key, value string) {
	sum := sha256.Sum224([]byte(identifier))
	value = hex.EncodeToString(sum[:])
	return prefix + value[:validation.LabelValueMaxLength-len(prefix)], value
}
