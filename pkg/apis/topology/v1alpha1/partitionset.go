package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// PartitionSet makes one Partition for each distinct combination of values that shards
// have for some labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Count",type=integer,JSONPath=`.status.count`,description="The number of partitions"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PartitionSet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec PartitionSetSpec `json:"spec"`

	// +optional
	Status PartitionSetStatus `json:"status,omitzero"`
}

// PartitionSetSpec says how shards are divided.
type PartitionSetSpec struct {
	// dimensions are the keys of the labels whose values divide the shards.
	//
	// +optional
	Dimensions []string `json:"dimensions,omitempty"`

	// shardSelector says which shards are divided. Without it, all are.
	//
	// +optional
	ShardSelector *ShardSelector `json:"shardSelector,omitempty"`
}

// ShardSelector is a label selector that is checked when it is written, because the
// partitions that are made from it must be valid.
type ShardSelector struct {
	// matchLabels are labels with their values that a shard must have.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.contains(\"/\") ? key.split(\"/\", 2)[0].matches(\"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$\") && key.split(\"/\", 2)[1].matches(\"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$\") : key.matches(\"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$\"))",message="keys must be label keys"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].matches(\"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$\"))",message="values must be label values"
	MatchLabels map[string]MatchLabelValue `json:"matchLabels,omitempty"`

	// matchExpressions are further conditions that must all hold.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=10
	MatchExpressions []ShardSelectorRequirement `json:"matchExpressions,omitempty"`
}

// MatchLabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=380
type MatchLabelValue string

// ShardSelectorRequirement is a condition on a label.
//
// +kubebuilder:validation:XValidation:rule="self.operator in [\"In\", \"NotIn\"] ? size(self.values) > 0 : (self.operator in [\"Exists\", \"DoesNotExist\"] ? !has(self.values) : true)",message="values are needed with In and NotIn, and not allowed with Exists and DoesNotExist"
type ShardSelectorRequirement struct {
	// key of the label.
	//
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.contains(\"/\") ? self.split(\"/\", 2)[0].matches(\"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$\") && self.split(\"/\", 2)[1].matches(\"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$\") : self.matches(\"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$\")",message="key must be a label key"
	Key string `json:"key"`

	// operator says how the label is compared with the values.
	//
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// values the label is compared with.
	//
	// +optional
	Values []RequirementValue `json:"values,omitempty"`
}

// RequirementValue is a value a label is compared with.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
type RequirementValue string

// PartitionSetStatus says what was made.
type PartitionSetStatus struct {
	// count is the number of distinct partitions.
	//
	// +optional
	Count int32 `json:"count,omitempty"`

	// conditions say whether the partitions are complete.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`
}

// Condition types of partition sets.
const (
	// PartitionSetValid says whether the selector makes sense.
	PartitionSetValid conditions.Type = "PartitionSetValid"
	// PartitionsReady says whether the partitions are there.
	PartitionsReady conditions.Type = "PartitionsReady"
)

const (
	// ReasonInvalidSelector is why PartitionSetValid is False.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonErrorGeneratingPartitions is why PartitionsReady is False.
	ReasonErrorGeneratingPartitions = "ErrorGeneratingPartitions"
)

// PartitionSetList is a list of PartitionSets.
//
// +kubebuilder:object:root=true
type PartitionSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []PartitionSet `json:"items"`
}

// LabelSelector returns s as the selector that apimachinery understands. Nil yields
// nil.
func (s *ShardSelector) LabelSelector() *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	selector := &metav1.LabelSelector{}
	if s.MatchLabels != nil {
		selector.MatchLabels = make(map[string]string, len(s.MatchLabels))
	}
	for key, value := range s.MatchLabels {
		selector.MatchLabels[key] = string(value)
	}
	for _, requirement := range s.MatchExpressions {
		values := make([]string, 0, len(requirement.Values))
		for _, value := range requirement.Values {
			values = append(values, string(value))
		}
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key:      requirement.Key,
			Operator: requirement.Operator,
			Values:   values,
		})
	}
	return selector
}

// GetConditions returns the conditions in the status.
func (s *PartitionSet) GetConditions() conditions.Conditions { return s.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (s *PartitionSet) SetConditions(c conditions.Conditions) { s.Status.Conditions = c }
