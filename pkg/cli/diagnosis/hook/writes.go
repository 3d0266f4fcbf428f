package hook

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Write says who wrote, and when.
type Write struct {
	By string      `json:"by"`
	At metav1.Time `json:"at"`
}

// LastWrite returns when somebody last wrote to a logical cluster as a hook, as the server
// remembers it; ok is false if nobody ever did.
func (k Kind) LastWrite(lc *corev1alpha1.LogicalCluster, id string) (last Write, ok bool) {
	var all map[string]Write
	if err := json.Unmarshal([]byte(lc.Annotations[tenancyv1alpha1.HooksAnnotationKey]), &all); err != nil {
		// Nobody has written, or somebody has broken what the server wrote.
		return Write{}, false
	}
	last, ok = all[string(k)[:1]+":"+id]
	return last, ok
}

// LastStatusWrite returns who last wrote the status of an object, whoever that was, as its
// managed fields say.
func LastStatusWrite(object metav1.Object) (last Write, ok bool) {
	var at time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(at) {
			at, ok = entry.Time.Time, true
			last = Write{By: entry.Manager, At: *entry.Time}
		}
	}
	return last, ok
}
