package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

var here = logicalcluster.MustParseName("here")

// member is a user in group "g" who is authenticated, with extra in pairs of a key
// and a value.
func member(name string, extra ...string) *user.DefaultInfo {
	u := &user.DefaultInfo{Name: name, Groups: []string{"g", user.AllAuthenticated}}
	for i := 0; i < len(extra); i += 2 {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[extra[i]] = append(u.Extra[extra[i]], extra[i+1])
	}
	return u
}

// identityOf is what a policy sees of a user.
type identityOf struct {
	Name   string
	Groups []string
}

func TestEffective(t *testing.T) {
	const app = "system:serviceaccount:ns:app"
	himself := func(name string) identityOf { return identityOf{name, []string{"g", user.AllAuthenticated}} }
	outside := func(groups ...string) identityOf {
		return identityOf{user.Anonymous, append([]string{user.AllAuthenticated}, groups...)}
	}
	global := func(cluster string, groups ...string) identityOf {
		return identityOf{"system:kcp:serviceaccount:" + cluster + ":ns:app", append([]string{user.AllAuthenticated}, groups...)}
	}

	table := map[string]struct {
		reason string
		user   user.Info
		want   []identityOf
	}{
		"Plain":        {"most users are the same everywhere", member("u"), []identityOf{himself("u")}},
		"OtherExtra":   {"other extra keys mean nothing", member("u", "color", "red"), []identityOf{himself("u")}},
		"InScope":      {"a scope may name alternatives", member("u", ScopesKey, "cluster:there,cluster:here"), []identityOf{himself("u")}},
		"AllAgree":     {"all values must allow", member("u", ScopesKey, "cluster:there,cluster:here", ScopesKey, "cluster:here"), []identityOf{himself("u")}},
		"OutOfScope":   {"elsewhere a user shows where he comes from", member("u", ScopesKey, "cluster:there"), []identityOf{outside("system:cluster:there")}},
		"Intersection": {"only clusters that all values allow count", member("u", ScopesKey, "cluster:a,cluster:b,cluster:c", ScopesKey, "cluster:c,cluster:b"), []identityOf{outside("system:cluster:b", "system:cluster:c")}},
		"Conflict":     {"contradicting values leave nothing", member("u", ScopesKey, "cluster:here", ScopesKey, "cluster:there"), []identityOf{outside()}},
		"UnknownScope": {"a scope of another sort never matches", member("u", ScopesKey, "shard:here"), []identityOf{outside()}},
		"EmptyScope":   {"nor does an empty one", member("u", ScopesKey, ""), []identityOf{outside()}},
		"Prefix":       {"a name is matched whole", member("u", ScopesKey, "cluster:hereafter"), []identityOf{outside("system:cluster:hereafter")}},
		"Unauthenticated": {
			"who was not authenticated is not elsewhere either",
			&user.DefaultInfo{Name: "u", Groups: []string{"g"}, Extra: map[string][]string{ScopesKey: {"cluster:there"}}},
			[]identityOf{{user.Anonymous, []string{user.AllUnauthenticated}}},
		},
		"OriginOfUser":   {"the origin of a user is for others to look at", member("u", ClusterNameKey, "there"), []identityOf{himself("u")}},
		"ServiceAccount": {"without an origin it is a name like another", member(app), []identityOf{himself(app)}},
		"LocalServiceAccount": {
			"one has its global name also at home",
			member(app, ClusterNameKey, "here", ScopesKey, "cluster:here"),
			[]identityOf{himself(app), global("here", "system:cluster:here")},
		},
		"ForeignServiceAccount": {
			"and only that elsewhere",
			member(app, ClusterNameKey, "there", ScopesKey, "cluster:there"),
			[]identityOf{outside("system:cluster:there"), global("there", "system:cluster:there")},
		},
		"UnscopedServiceAccount": {
			"an origin without a scope is believed",
			member(app, ClusterNameKey, "there"), []identityOf{outside(), global("there")},
		},
		"ClaimedOrigin": {
			"an origin that the scopes exclude is not",
			member(app, ClusterNameKey, "there", ScopesKey, "cluster:here"), []identityOf{outside("system:cluster:here")},
		},
		"TwoOrigins": {
			"nobody comes from two clusters",
			member(app, ClusterNameKey, "there", ClusterNameKey, "here"), []identityOf{outside()},
		},
		"BadServiceAccount": {
			"a name that is none has no global form",
			member("system:serviceaccount:x", ClusterNameKey, "there"), []identityOf{outside()},
		},
		"Warrant": {
			"warrants come on top",
			member("u", WarrantKey, NewWarrant(member("w")).String()), []identityOf{himself("u"), himself("w")},
		},
		"ScopedWarrant": {
			"they have scopes of their own, and show them",
			member("u", WarrantKey, NewWarrant(member("w", ScopesKey, "cluster:here")).String()),
			[]identityOf{himself("u"), {"w", []string{"g", user.AllAuthenticated, "system:cluster:here"}}},
		},
		"ForeignWarrant": {
			"out of scope they are outsiders, too",
			member("u", WarrantKey, NewWarrant(member("w", ScopesKey, "cluster:there")).String()),
			[]identityOf{himself("u"), outside("system:cluster:there")},
		},
		"NestedWarrant": {
			"warrants may have warrants",
			member("u", WarrantKey, NewWarrant(member("w", WarrantKey, NewWarrant(member("x")).String())).String()),
			[]identityOf{himself("u"), himself("w"), himself("x")},
		},
		"ServiceAccountWarrant": {
			"a service account of nowhere is nobody",
			member("u", WarrantKey, NewWarrant(member(app)).String()), []identityOf{himself("u")},
		},
		"UndecodableWarrant": {
			"what cannot be decoded is ignored",
			member("u", WarrantKey, `{"user":"w","extra":{"k":"not a list"}}`, WarrantKey, "garbage"),
			[]identityOf{himself("u")},
		},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			var got []identityOf
			for _, u := range Effective(tc.user, here) {
				got = append(got, identityOf{u.GetName(), u.GetGroups()})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWarrantsEnd(t *testing.T) {
	nested := member("innermost", "k", "v")
	nested.Groups = []string{"innermost"}
	for range maxWarrantDepth + 3 {
		nested = member("u", WarrantKey, NewWarrant(nested).String())
	}
	if got := len(Effective(nested, here)); got != maxWarrantDepth+1 {
		t.Errorf("warrants are followed to a depth of %d, got %d identities", maxWarrantDepth, got)
	}
	for _, group := range ClaimedGroups(nested) {
		if group == "innermost" {
			t.Error("a warrant that is too deep to count must not count as a claim")
		}
	}
}

func TestLimit(t *testing.T) {
	original := member("u", ScopesKey, "cluster:here,cluster:there",
		WarrantKey, NewWarrant(member("w", WarrantKey, NewWarrant(member("x")).String())).String(),
		WarrantKey, "garbage", "color", "red")
	limited := Limit(original, here)

	if got := limited.GetExtra()["color"]; len(got) != 1 {
		t.Errorf("the rest of the extra stays: got %v", got)
	}
	if got := len(Effective(limited, here)); got != 3 {
		t.Errorf("where the limit is nothing changes: got %d identities", got)
	}
	for _, u := range Effective(limited, logicalcluster.MustParseName("there")) {
		if u.GetName() != user.Anonymous {
			t.Errorf("elsewhere nobody is himself: got %s", u.GetName())
		}
	}
	if got := original.Extra[ScopesKey]; len(got) != 1 {
		t.Errorf("the original must not change: got scopes %v", got)
	}
}

func TestClaimedGroups(t *testing.T) {
	u := member("u", WarrantKey, NewWarrant(member("w", WarrantKey,
		NewWarrant(&user.DefaultInfo{Groups: []string{"deep"}}).String())).String())
	want := []string{"g", user.AllAuthenticated, "g", user.AllAuthenticated, "deep"}
	if diff := cmp.Diff(want, ClaimedGroups(u)); diff != "" {
		t.Errorf("groups in warrants are claims like others (-want +got):\n%s", diff)
	}
}

// FuzzWarrant looks for values that claim less than they give: the gatekeeper of
// impersonation relies on every group of an effective identity being a claimed one.
func FuzzWarrant(f *testing.F) {
	f.Add(NewWarrant(member("w", ScopesKey, "cluster:here", WarrantKey, NewWarrant(member("x")).String())).String())
	f.Add(`{"USER":"u","Groups":["g"],"groups":["h"]}`)
	f.Add(`{"user":"system:serviceaccount:a:b","extra":{"authentication.kcp.io/cluster-name":["c"]}}`)
	f.Fuzz(func(t *testing.T, value string) {
		u := &user.DefaultInfo{Name: "u", Extra: map[string][]string{WarrantKey: {value}}}
		claimed := map[string]bool{user.AllAuthenticated: true, user.AllUnauthenticated: true}
		for _, group := range ClaimedGroups(u) {
			claimed[group] = true
		}
		for _, effective := range append(Effective(u, here), Effective(Limit(u, here), here)...) {
			for _, group := range effective.GetGroups() {
				if Privileged(group) && !claimed[group] {
					t.Errorf("%s is a member of %s without claiming it", effective.GetName(), group)
				}
			}
		}
	})
}
