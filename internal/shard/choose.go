// Package shard decides where workspaces go. The decision is pure: it sees the Shard
// objects and what a Workspace asks for.
package shard

import (
	"errors"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// ErrNone says that no shard takes the workspace.
var ErrNone = errors.New("no shard")

// Choose returns one of shards that selector allows; nil allows all. pick returns a
// number below n. If there is none, the error is an ErrNone that says why. The result
// is shared with shards.
func Choose(shards []corev1alpha1.Shard, selector *metav1.LabelSelector, pick func(n int) int) (*corev1alpha1.Shard, error) {
	wanted := labels.Everything()
	if selector != nil {
		var err error
		if wanted, err = metav1.LabelSelectorAsSelector(selector); err != nil {
			return nil, fmt.Errorf("%w: spec.location.selector is invalid: %w", ErrNone, err)
		}
	}
	var candidates []*corev1alpha1.Shard
	for i := range shards {
		_, unschedulable := shards[i].Annotations[corev1alpha1.UnschedulableAnnotationKey]
		if !unschedulable && wanted.Matches(labels.Set(shards[i].Labels)) {
			candidates = append(candidates, &shards[i])
		}
	}
	switch {
	case len(candidates) > 0:
		return candidates[pick(len(candidates))], nil
	case wanted.Empty():
		return nil, fmt.Errorf("%w takes workspaces: there is none without the annotation %s", ErrNone, corev1alpha1.UnschedulableAnnotationKey)
	default:
		return nil, fmt.Errorf("%w matches the location selector %q and takes workspaces", ErrNone, wanted)
	}
}

// CheckURL returns an error if the external URL of a shard cannot be the beginning of
// the URLs of workspaces.
func CheckURL(shard *corev1alpha1.Shard) error {
	external, err := url.Parse(shard.Spec.ExternalURL)
	switch {
	case err != nil:
		return fmt.Errorf("the external URL of shard %s: %w", shard.Name, err)
	case external.Scheme == "" || external.Host == "":
		return fmt.Errorf("the external URL %q of shard %s is not absolute", shard.Spec.ExternalURL, shard.Name)
	default:
		return nil
	}
}
