package conditions

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Type names what a condition is about, in CamelCase.
type Type string

// Ready is the type of the condition that sums up the others.
const Ready Type = "Ready"

// Severity says how bad a condition is that is False.
// +kubebuilder:validation:Enum=Error;Warning;Info;""
type Severity string

// The severities, from the worst to none.
const (
	// SeverityError needs somebody to act.
	SeverityError Severity = "Error"
	// SeverityWarning needs a look; things go on meanwhile.
	SeverityWarning Severity = "Warning"
	// SeverityInfo is ordinary progress.
	SeverityInfo Severity = "Info"
	// SeverityNone is what conditions carry that are not False.
	SeverityNone Severity = ""
)

// Condition is one thing that may be known about an object.
type Condition struct {
	// type of the condition in CamelCase. There is at most one condition of a type.
	// +required
	Type Type `json:"type"`

	// status of the condition: True, False or Unknown.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status corev1.ConditionStatus `json:"status"`

	// severity says how bad it is that the condition is False. Empty for other
	// statuses.
	// +optional
	Severity Severity `json:"severity,omitempty"`

	// lastTransitionTime is when status, reason, severity or message last changed.
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`

	// reason is a word in CamelCase that programs may branch on. Empty if the
	// condition is True.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message is a sentence for people. Empty if the condition is True.
	// +optional
	Message string `json:"message,omitempty"`
}

// Conditions is the list of an object's conditions, sorted by type with Ready first.
type Conditions []Condition

// Getter is an object that has conditions.
//
// +kubebuilder:object:generate=false
type Getter interface {
	GetConditions() Conditions
}

// Setter is an object whose conditions can be replaced.
//
// +kubebuilder:object:generate=false
type Setter interface {
	Getter
	SetConditions(Conditions)
}

// sameState says whether a and b differ at most in when they came to be.
func sameState(a, b Condition) bool {
	a.LastTransitionTime, b.LastTransitionTime = metav1.Time{}, metav1.Time{}
	return a == b
}
