package webhooktest

import (
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Operation is one step of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Allow lets everything pass.
func Allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Deny refuses everything and says why.
func Deny(message string) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message}}
	}
}

// Patch changes the object.
func Patch(operations ...Operation) Answer {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return Patched(operations...) }
}

// Patched is an answer that changes the object.
func Patched(operations ...Operation) *admissionv1.AdmissionResponse {
	patch, err := json.Marshal(operations)
	if err != nil {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: err.Error()}}
	}
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &kind}
}

// Add is the step that adds a value, or replaces it.
func Add(path string, value any) Operation { return Operation{Op: "add", Path: path, Value: value} }
