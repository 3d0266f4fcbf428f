package phase

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

const (
	// recordedEvery is how much later than the last recorded write of a hook another one
	// has to be for it to be recorded. So a controller that writes a lot costs its
	// workspace one write a minute.
	recordedEvery = time.Minute

	// longestUser is how much is kept of the name of who wrote.
	longestUser = 256
)

// records are the last writes of the hooks of a logical cluster by recordKey, as they
// are in its annotation. There are none of hooks that have not written, nor of those that
// have finished, so that a logical cluster at rest has no such annotation.
type records map[string]record

// record says when somebody last wrote to a logical cluster as a hook. When it has been
// waiting since is not in it: that is when the logical cluster was made, or deleted.
type record struct {
	By string      `json:"by"`
	At metav1.Time `json:"at"`
}

// RecordWrite returns lc with what is remembered of hook: that user has written to it, at
// now, to its LogicalCluster or its content. changed is false, and lc the very object that
// was given, if there is nothing to store: the hook is not pending (any more), or a write
// was recorded less than a minute ago. lc itself is not changed.
func RecordWrite(lc *corev1alpha1.LogicalCluster, hook tenancy.Hook, user string, now metav1.Time) (recorded *corev1alpha1.LogicalCluster, changed bool) {
	if !hook.ActiveIn(lc) {
		return lc, false
	}
	all := recordsOf(lc)
	key := recordKey(hook.Kind, hook.ID)
	if last, ok := all[key]; ok && now.Sub(last.At.Time) < recordedEvery && !last.At.After(now.Time) {
		return lc, false
	}
	if len(user) > longestUser {
		user = strings.ToValidUTF8(user[:longestUser], "") + "…"
	}
	if all == nil {
		all = records{}
	}
	all[key] = record{By: user, At: now.Rfc3339Copy()}
	recorded = lc.DeepCopy()
	setRecords(recorded, all)
	return recorded, true
}

// recordKey says whose record it is: a type may have an initializer and a terminator, of
// the same name.
func recordKey(kind tenancy.HookKind, id string) string {
	if kind == tenancy.Terminating {
		return "t:" + id
	}
	return "i:" + id
}

// recordsOf returns what is remembered of the hooks of lc. The annotation is open to those
// who may write to the LogicalCluster; what cannot be read is no record.
func recordsOf(lc *corev1alpha1.LogicalCluster) records {
	value, ok := lc.Annotations[tenancyv1alpha1.HooksAnnotationKey]
	if !ok {
		return nil
	}
	var all records
	if err := json.Unmarshal([]byte(value), &all); err != nil {
		return nil
	}
	return all
}

func setRecords(lc *corev1alpha1.LogicalCluster, all records) {
	if len(all) == 0 {
		delete(lc.Annotations, tenancyv1alpha1.HooksAnnotationKey)
		return
	}
	// Neither strings nor times have anything that cannot be encoded.
	value, _ := json.Marshal(all)
	metav1.SetMetaDataAnnotation(&lc.ObjectMeta, tenancyv1alpha1.HooksAnnotationKey, string(value))
}

// forgetRecords drops what is remembered of hooks that are not waited for, and what
// somebody else has written in their place. It changes lc.
func forgetRecords(lc *corev1alpha1.LogicalCluster) {
	if _, ok := lc.Annotations[tenancyv1alpha1.HooksAnnotationKey]; !ok {
		return
	}
	all := recordsOf(lc)
	known := map[string]bool{}
	for _, pending := range pendingIn(lc) {
		known[recordKey(pending.Kind, pending.ID)] = true
	}
	maps.DeleteFunc(all, func(key string, _ record) bool { return !known[key] })
	setRecords(lc, all)
}

// pendingIn returns the hooks whose turn it is in lc, sorted. All of them are waited for.
func pendingIn(lc *corev1alpha1.LogicalCluster) []tenancy.Hook {
	var hooks []tenancy.Hook
	switch {
	case !lc.DeletionTimestamp.IsZero():
		for _, terminator := range lc.Status.Terminators {
			hooks = append(hooks, hookOf(tenancy.Terminating, string(terminator)))
		}
	case lc.Status.Phase == corev1alpha1.PhaseInitializing:
		for _, initializer := range lc.Status.Initializers {
			hooks = append(hooks, hookOf(tenancy.Initializing, string(initializer)))
		}
	}
	slices.SortFunc(hooks, func(a, b tenancy.Hook) int { return strings.Compare(a.ID, b.ID) })
	return hooks
}

// hookOf returns the hook of an identifier. One that cannot be taken apart is somebody's, of
// whom nothing else is known.
func hookOf(kind tenancy.HookKind, id string) tenancy.Hook {
	hook, err := tenancy.ParseHook(kind, id)
	if err != nil {
		return tenancy.Hook{Kind: kind, ID: id, Type: id}
	}
	return hook
}

// initialized is the condition of a logical cluster that waits for initializers, or for
// none any more, and of its workspace.
func initialized(lc *corev1alpha1.LogicalCluster, now metav1.Time) conditions.Condition {
	return waiting(lc, conditions.Condition{
		Type:               corev1alpha1.WorkspaceInitialized,
		Reason:             corev1alpha1.ReasonInitializerExists,
		Message:            "Initializers still exist: ",
		LastTransitionTime: now,
	}, lc.CreationTimestamp)
}

// terminated is initialized for the terminators of a logical cluster that is being deleted.
func terminated(lc *corev1alpha1.LogicalCluster, now metav1.Time) conditions.Condition {
	return waiting(lc, conditions.Condition{
		Type:               corev1alpha1.WorkspaceTerminated,
		Reason:             corev1alpha1.ReasonTerminatorExists,
		Message:            "Terminators still exist: ",
		LastTransitionTime: now,
	}, *lc.DeletionTimestamp)
}

// waiting completes a condition that is False as long as hooks are pending, and then
// names them. Nothing in its message changes by the clock alone.
func waiting(lc *corev1alpha1.LogicalCluster, condition conditions.Condition, since metav1.Time) conditions.Condition {
	hooks := pendingIn(lc)
	if len(hooks) == 0 {
		return conditions.Condition{Type: condition.Type, Status: corev1.ConditionTrue, LastTransitionTime: condition.LastTransitionTime}
	}
	all := recordsOf(lc)
	names := make([]string, 0, len(hooks))
	for _, hook := range hooks {
		names = append(names, fmt.Sprintf("%s (since %s, %s)", hook.ID, stamp(since), all.last(hook)))
	}
	condition.Status, condition.Severity = corev1.ConditionFalse, conditions.SeverityInfo
	condition.Message += strings.Join(names, ", ")
	return condition
}

// last says what is known of the last write of a hook.
func (r records) last(hook tenancy.Hook) string {
	switch last, ok := r[recordKey(hook.Kind, hook.ID)]; {
	case ok:
		return fmt.Sprintf("last written by %q at %s", last.By, stamp(last.At))
	case hook.System():
		return "done by the server"
	default:
		return "never written"
	}
}

// stamp is how messages and annotations spell a time.
func stamp(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }
