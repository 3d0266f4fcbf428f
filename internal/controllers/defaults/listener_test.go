package defaults

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var home = logicalcluster.MustParseName("home")

func metaOf(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Annotations: map[string]string{logicalcluster.AnnotationKey: home.String(), "kubernetes.io/description": "what it is for"},
	}
}

func certificates(namespace, bundle string) *core.ConfigMap {
	return &core.ConfigMap{ObjectMeta: metaOf(namespace, "kube-root-ca.crt"), Data: map[string]string{"ca.crt": bundle}}
}

func TestListener(t *testing.T) {
	namespaceKey := controller.Key{Cluster: home, Name: "team"}
	configMapKey := controller.Key{Cluster: home, Namespace: "team", Name: "kube-root-ca.crt"}
	account := &core.ServiceAccount{ObjectMeta: metaOf("team", "default")}
	for name, tc := range map[string]struct {
		reason     string
		hears      func(l *listener)
		want       []controller.Key
		wrong      []controller.Key
		everything bool
	}{
		"Namespace": {reason: "a namespace may lack something", hears: func(l *listener) {
			l.Changed(cached.Namespaces, &core.Namespace{ObjectMeta: metaOf("", "team")})
		}, want: []controller.Key{namespaceKey}},
		"AccountGone":      {reason: "a namespace lacks what is gone", hears: func(l *listener) { l.Gone(cached.ServiceAccounts, account) }, want: []controller.Key{namespaceKey}},
		"CertificatesGone": {reason: "a namespace lacks what is gone", hears: func(l *listener) { l.Gone(cached.ConfigMaps, certificates("team", "right")) }, want: []controller.Key{namespaceKey}},
		"OthersGone": {reason: "what others made is theirs", hears: func(l *listener) {
			l.Gone(cached.ConfigMaps, &core.ConfigMap{ObjectMeta: metaOf("team", "other")})
			l.Gone(cached.ServiceAccounts, &core.ServiceAccount{ObjectMeta: metaOf("team", "other")})
			l.Gone(cached.Secrets, &core.Secret{ObjectMeta: metaOf("team", "default")})
			l.Gone(cached.Namespaces, &core.Namespace{ObjectMeta: metaOf("", "default")})
		}},
		"Right": {reason: "there is nothing to correct", hears: func(l *listener) { l.Changed(cached.ConfigMaps, certificates("team", "right")) }},
		"Wrong": {reason: "certificates are corrected", hears: func(l *listener) { l.Changed(cached.ConfigMaps, certificates("team", "wrong")) }, want: []controller.Key{configMapKey}},
		"Starting": {reason: "at the start wrong certificates are collected", hears: func(l *listener) {
			l.Began(cached.ConfigMaps)
			l.Changed(cached.ConfigMaps, certificates("team", "wrong"))
			l.Changed(cached.ConfigMaps, certificates("other", "right"))
		}, wrong: []controller.Key{configMapKey}},
		"Started": {reason: "what was collected is done at once", hears: func(l *listener) {
			l.Began(cached.ConfigMaps)
			l.Changed(cached.ConfigMaps, certificates("team", "wrong"))
			l.Synced(cached.ConfigMaps)
		}, want: []controller.Key{putOff}, wrong: []controller.Key{configMapKey}},
		"NothingCollected": {reason: "a start that finds nothing wrong costs nothing", hears: func(l *listener) {
			l.Began(cached.ConfigMaps)
			l.Began(cached.ServiceAccounts)
			l.Synced(cached.ServiceAccounts)
			l.Synced(cached.ConfigMaps)
		}},
		"Gap": {reason: "in a gap anything may have been deleted", hears: func(l *listener) {
			l.Began(cached.ServiceAccounts)
			l.Synced(cached.ServiceAccounts)
			l.Began(cached.ServiceAccounts)
			l.Synced(cached.ServiceAccounts)
		}, want: []controller.Key{putOff}, everything: true},
		"GapElsewhere": {reason: "gaps of others are theirs", hears: func(l *listener) {
			l.Began(cached.Secrets)
			l.Began(cached.Secrets)
			l.Synced(cached.Secrets)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []controller.Key
			l := &listener{rootCA: "right", enqueue: func(key controller.Key) { got = append(got, key) }}
			tc.hears(l)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(logicalcluster.Name{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			wrong, everything := l.take()
			if diff := cmp.Diff(tc.wrong, wrong, cmpopts.EquateComparable(logicalcluster.Name{})); diff != "" || everything != tc.everything {
				t.Errorf("%s: everything is %t (-want +got):\n%s", tc.reason, everything, diff)
			}
			if wrong, everything := l.take(); len(wrong) > 0 || everything {
				t.Error("what was taken is still there")
			}
		})
	}
}
