package apibinding

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/apiversions"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// isOurs says whether a label is one that names the export: other labels of claims belong
// to those who know of claims.
func isOurs(key, value string) bool {
	return key == apisv1alpha1.InternalAPIBindingExportLabelKey ||
		value == apihash.Reflexive && strings.HasPrefix(key, apisv1alpha1.APIExportPermissionClaimLabelPrefix)
}

// setLabels makes those labels of u that are ours the wanted ones.
func setLabels(u *unstructured.Unstructured, wanted map[string]string) {
	labels := u.GetLabels()
	for key, value := range labels {
		if isOurs(key, value) {
			delete(labels, key)
		}
	}
	if labels == nil {
		labels = map[string]string{}
	}
	for key, value := range wanted {
		labels[key] = value
	}
	u.SetLabels(labels)
}

// checkLabels checks that nothing has changed them since.
func checkLabels(u *unstructured.Unstructured, wanted map[string]string) field.ErrorList {
	var errs field.ErrorList
	path, labels := field.NewPath("metadata", "labels"), u.GetLabels()
	for key, value := range wanted {
		if labels[key] != value {
			errs = append(errs, field.Invalid(path.Key(key), labels[key], "must be set to "+value))
		}
	}
	for key, value := range labels {
		if _, ok := wanted[key]; !ok && isOurs(key, value) {
			errs = append(errs, field.Invalid(path.Key(key), value, "must not be set"))
		}
	}
	return errs
}

// keepStatusAnnotations makes annotations that are part of the status what they were:
// v1alpha1 has the status of claims partly in annotations, and nobody may write a status.
func keepStatusAnnotations(obj, old runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	var before map[string]string
	if stored, ok := old.(*unstructured.Unstructured); ok {
		before = stored.GetAnnotations()
	}
	annotations := u.GetAnnotations()
	for _, key := range apiversions.StatusAnnotations() {
		value, ok := before[key]
		switch {
		case !ok:
			delete(annotations, key)
		case annotations == nil:
			annotations = map[string]string{key: value}
		default:
			annotations[key] = value
		}
	}
	u.SetAnnotations(annotations)
}

// checkStatusAnnotations checks that nothing has changed them since.
func checkStatusAnnotations(u *unstructured.Unstructured, old runtime.Object) field.ErrorList {
	var before map[string]string
	if stored, ok := old.(*unstructured.Unstructured); ok {
		before = stored.GetAnnotations()
	}
	var errs field.ErrorList
	annotations := u.GetAnnotations()
	for _, key := range apiversions.StatusAnnotations() {
		value, has := annotations[key]
		if want, had := before[key]; has != had || value != want {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "annotations").Key(key), "is part of the status, which the system writes"))
		}
	}
	return errs
}
