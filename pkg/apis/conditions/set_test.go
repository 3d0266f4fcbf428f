package conditions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is the least that has conditions.
type object struct{ conditions Conditions }

func (o *object) GetConditions() Conditions  { return o.conditions }
func (o *object) SetConditions(c Conditions) { o.conditions = c }

var (
	early = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	late  = metav1.NewTime(early.Add(time.Hour))
)

func isFalse(t Type, severity Severity, reason, message string, at metav1.Time) Condition {
	return Condition{Type: t, Status: corev1.ConditionFalse, Severity: severity, Reason: reason, Message: message, LastTransitionTime: at}
}

func isTrue(t Type, at metav1.Time) Condition {
	return Condition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: at}
}

func TestSet(t *testing.T) {
	cases := map[string]struct {
		reason string
		have   Conditions
		set    Condition
		want   Conditions
	}{
		"First": {
			reason: "a condition that is not there is added",
			set:    isTrue("A", early),
			want:   Conditions{isTrue("A", early)},
		},
		"Sorted": {
			reason: "the list is sorted by type with Ready first",
			have:   Conditions{isTrue(Ready, early), isTrue("A", early), isTrue("Z", early)},
			set:    isTrue("M", early),
			want:   Conditions{isTrue(Ready, early), isTrue("A", early), isTrue("M", early), isTrue("Z", early)},
		},
		"ReadyGoesFirst": {
			reason: "Ready is what people look for",
			have:   Conditions{isTrue("A", early)},
			set:    isTrue(Ready, early),
			want:   Conditions{isTrue(Ready, early), isTrue("A", early)},
		},
		"SameState": {
			reason: "saying it again is no transition",
			have:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
			set:    isFalse("A", SeverityInfo, "R", "m", late),
			want:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
		},
		"StatusChanged": {
			reason: "status moves the time",
			have:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
			set:    isTrue("A", late),
			want:   Conditions{isTrue("A", late)},
		},
		"SeverityChanged": {
			reason: "severity moves the time",
			have:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
			set:    isFalse("A", SeverityError, "R", "m", late),
			want:   Conditions{isFalse("A", SeverityError, "R", "m", late)},
		},
		"ReasonChanged": {
			reason: "the reason moves the time",
			have:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
			set:    isFalse("A", SeverityInfo, "S", "m", late),
			want:   Conditions{isFalse("A", SeverityInfo, "S", "m", late)},
		},
		"MessageChanged": {
			reason: "the message moves the time",
			have:   Conditions{isFalse("A", SeverityInfo, "R", "m", early)},
			set:    isFalse("A", SeverityInfo, "R", "n", late),
			want:   Conditions{isFalse("A", SeverityInfo, "R", "n", late)},
		},
		"TrueSaysNoMore": {
			reason: "what is True needs no explanation",
			set:    Condition{Type: "A", Status: corev1.ConditionTrue, Severity: SeverityError, Reason: "R", Message: "m", LastTransitionTime: early},
			want:   Conditions{isTrue("A", early)},
		},
		"UnknownHasNoSeverity": {
			reason: "severity is for what is known to be wrong",
			set:    Condition{Type: "A", Status: corev1.ConditionUnknown, Severity: SeverityError, Reason: "R", Message: "m", LastTransitionTime: early},
			want:   Conditions{{Type: "A", Status: corev1.ConditionUnknown, Reason: "R", Message: "m", LastTransitionTime: early}},
		},
		"TimeTruncated": {
			reason: "the wire has whole seconds in UTC",
			set:    isTrue("A", metav1.NewTime(early.Add(700*time.Millisecond).In(time.FixedZone("x", 3600)))),
			want:   Conditions{isTrue("A", early)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &object{conditions: tc.have}
			before := append(Conditions(nil), tc.have...)
			Set(o, tc.set)
			if diff := cmp.Diff(tc.want, o.conditions); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, append(Conditions(nil), tc.have...)); diff != "" {
				t.Errorf("the old list was written to, which others may share (-before +after):\n%s", diff)
			}
		})
	}
}

func TestMarkAndGet(t *testing.T) {
	o := &object{}
	MarkTrue(o, "A")
	MarkFalse(o, "B", "Reason", SeverityWarning, "%d left", 3)
	MarkUnknown(o, "C", "Reason", "no idea")

	if !IsTrue(o, "A") || IsTrue(o, "B") || IsTrue(o, "Missing") {
		t.Error("IsTrue must hold for A only")
	}
	if !IsFalse(o, "B") || IsFalse(o, "A") || IsFalse(o, "Missing") {
		t.Error("IsFalse must hold for B only")
	}
	if !IsUnknown(o, "C") || !IsUnknown(o, "Missing") || IsUnknown(o, "A") {
		t.Error("IsUnknown must hold for C and for what is missing")
	}
	b, ok := Get(o, "B")
	if !ok || b.Message != "3 left" || Reason(o, "B") != "Reason" {
		t.Errorf("want B with its message, got %+v", b)
	}
	if age := time.Since(b.LastTransitionTime.Time); age < 0 || age > time.Minute {
		t.Errorf("want a transition now, got one %s ago", age)
	}

	shared := o.conditions
	Delete(o, "A")
	Delete(o, "Missing")
	if Has(o, "A") || !Has(o, "B") || len(o.conditions) != 2 {
		t.Errorf("want B and C left, got %+v", o.conditions)
	}
	if shared[0].Type != "A" || len(shared) != 3 {
		t.Error("the old list was written to, which others may share")
	}
}

func TestSummarize(t *testing.T) {
	unknown := Condition{Type: "U", Status: corev1.ConditionUnknown, Reason: "Wait", Message: "u", LastTransitionTime: early}
	cases := map[string]struct {
		reason string
		have   Conditions
		types  []Type
		want   Condition // its type and time are not compared
	}{
		"NoConditions": {
			reason: "nothing is known, so nothing is said",
			types:  []Type{"A"},
		},
		"AllTrue": {
			reason: "Ready when everything is",
			have:   Conditions{isTrue("A", early), isTrue("B", early)},
			want:   Condition{Status: corev1.ConditionTrue},
		},
		"OldReadyDoesNotCount": {
			reason: "otherwise Ready could never recover",
			have:   Conditions{isFalse(Ready, SeverityError, "R", "m", early), isTrue("A", early)},
			want:   Condition{Status: corev1.ConditionTrue},
		},
		"UnknownIsNotReady": {
			reason: "what is unknown cannot be relied on",
			have:   Conditions{isTrue("A", early), unknown},
			want:   Condition{Status: corev1.ConditionUnknown, Reason: "Wait", Message: "u"},
		},
		"ErrorBeatsInfo": {
			reason: "the worst is what people must see",
			have:   Conditions{isFalse("A", SeverityInfo, "I", "i", early), isFalse("B", SeverityError, "E", "e", early), unknown},
			want:   Condition{Status: corev1.ConditionFalse, Severity: SeverityError, Reason: "E", Message: "e"},
		},
		"GivenTypesOnly": {
			reason: "other conditions are not the caller's business",
			have:   Conditions{isTrue("A", early), isFalse("B", SeverityError, "E", "e", early)},
			types:  []Type{"A"},
			want:   Condition{Status: corev1.ConditionTrue},
		},
		"GivenTypeMissing": {
			reason: "what was asked for and is not there is unknown",
			have:   Conditions{isTrue("A", early)},
			types:  []Type{"A", "B"},
			want:   Condition{Status: corev1.ConditionUnknown, Reason: "ConditionMissing", Message: "Condition B is not known yet."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &object{conditions: tc.have}
			Summarize(o, tc.types...)
			got, _ := Get(o, Ready)
			got.Type, got.LastTransitionTime = "", metav1.Time{}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
