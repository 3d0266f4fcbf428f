package clusterroleaggregation

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// manager is the name under which the rules are owned, that of Kubernetes'
	// controller: who applies a role asks the same one to let go of them.
	manager = "clusterrole-aggregation-controller"

	managedVersion = "rbac.authorization.k8s.io/v1"
)

// rulesField are the rules, which are owned as a whole.
var rulesField = fieldpath.MakePathOrDie("rules")

// own returns the managed fields of a role after the rules have been applied by the
// controller by force: they are nobody else's any more.
func own(entries []metav1.ManagedFieldsEntry, now metav1.Time) ([]metav1.ManagedFieldsEntry, error) {
	var owned []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if isOurs(&entry) {
			continue
		}
		left, err := without(entry, rulesField)
		if err != nil {
			return nil, fmt.Errorf("reading the fields that %s manages: %w", entry.Manager, err)
		}
		if left != nil {
			owned = append(owned, *left)
		}
	}
	fields, err := fieldpath.NewSet(rulesField).ToJSON()
	if err != nil {
		return nil, err
	}
	return append(owned, metav1.ManagedFieldsEntry{
		Manager:    manager,
		Operation:  metav1.ManagedFieldsOperationApply,
		APIVersion: managedVersion,
		Time:       &now,
		FieldsType: "FieldsV1",
		FieldsV1:   &metav1.FieldsV1{Raw: fields},
	}), nil
}

func isOurs(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}

// without returns entry without a field, or nil if it manages no other.
func without(entry metav1.ManagedFieldsEntry, field fieldpath.Path) (*metav1.ManagedFieldsEntry, error) {
	if entry.FieldsV1 == nil {
		return &entry, nil
	}
	fields := &fieldpath.Set{}
	if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)); err != nil {
		return nil, err
	}
	if !fields.Has(field) {
		return &entry, nil
	}
	fields = fields.Difference(fieldpath.NewSet(field))
	if fields.Empty() {
		return nil, nil
	}
	raw, err := fields.ToJSON()
	if err != nil {
		return nil, err
	}
	entry.FieldsV1 = &metav1.FieldsV1{Raw: raw}
	return &entry, nil
}
