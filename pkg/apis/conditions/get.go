package conditions

import (
	corev1 "k8s.io/api/core/v1"
)

// Get returns a copy of the condition of type t; ok is false if there is none.
func Get(from Getter, t Type) (condition Condition, ok bool) {
	for _, c := range from.GetConditions() {
		if c.Type == t {
			return c, true
		}
	}
	return Condition{}, false
}

// Has says whether there is a condition of type t, whatever its status.
func Has(from Getter, t Type) bool {
	_, ok := Get(from, t)
	return ok
}

// IsTrue says whether the condition of type t is True. It is not if it is absent.
func IsTrue(from Getter, t Type) bool {
	c, ok := Get(from, t)
	return ok && c.Status == corev1.ConditionTrue
}

// IsFalse says whether the condition of type t is False. It is not if it is absent.
func IsFalse(from Getter, t Type) bool {
	c, ok := Get(from, t)
	return ok && c.Status == corev1.ConditionFalse
}

// IsUnknown says whether the condition of type t is Unknown or absent.
func IsUnknown(from Getter, t Type) bool {
	c, ok := Get(from, t)
	return !ok || c.Status == corev1.ConditionUnknown
}

// Reason returns the reason of the condition of type t, empty if it is absent.
func Reason(from Getter, t Type) string {
	c, _ := Get(from, t)
	return c.Reason
}
