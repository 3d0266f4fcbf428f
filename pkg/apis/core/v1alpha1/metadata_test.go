package v1alpha1

import "testing"

func TestHashedLabels(t *testing.T) {
	cases := map[string]struct {
		reason    string
		label     func() (key, value string)
		wantKey   string
		wantValue string
	}{
		"Initializer": {
			reason:    "35 characters fit behind the prefix",
			label:     func() (string, string) { return InitializerLabel("root:universal") },
			wantKey:   "initializer.internal.kcp.io/d1d6459a03641b6fd7560fc2849f6c66fa9",
			wantValue: "d1d6459a03641b6fd7560fc2849f6c66fa971a0afeded6ba2d2743f2",
		},
		"SystemInitializer": {
			reason:    "our own initializers are labeled as any other",
			label:     func() (string, string) { return InitializerLabel(InitializerAPIBindings) },
			wantKey:   "initializer.internal.kcp.io/dd58c810629ccc3e49c7d8225b9bcfaa42a",
			wantValue: "dd58c810629ccc3e49c7d8225b9bcfaa42a4a2ecbb7e4a9be76614e3",
		},
		"Terminator": {
			reason:    "36 characters fit behind the shorter prefix",
			label:     func() (string, string) { return TerminatorLabel("root:example") },
			wantKey:   "terminator.internal.kcp.io/38e7732cde2d692db77aa02ff91915668643",
			wantValue: "38e7732cde2d692db77aa02ff9191566864333f33580d861066abb16",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key, value := tc.label()
			if key != tc.wantKey || value != tc.wantValue {
				t.Errorf("%s: want %s=%s, got %s=%s", tc.reason, tc.wantKey, tc.wantValue, key, value)
			}
		})
	}
}
