package authz

import (
	"fmt"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// BenchmarkAuthorize decides about one request. The policies answer from memory, so
// this is what authorization costs besides reading them. A decision should stay below
// 20 µs.
func BenchmarkAuthorize(b *testing.B) {
	team := inPhase(corev1alpha1.PhaseReady,
		bootstrap.WorkspaceAdmin("alice"),
		bind("enter", bootstrap.WorkspaceAccess, userSubject("carol")),
		bindIn("default", "read", "ClusterRole", "view", userSubject("carol")))
	for i := range 10 {
		team.objects = append(team.objects, bind(fmt.Sprintf("other-%d", i), "view", groupSubject(fmt.Sprintf("group-%d", i))))
	}
	m := memory{teamA: team}
	a, err := New(Config{
		AlwaysAllowPaths: DefaultAlwaysAllowPaths(), Bootstrap: systemAdmin(b), Local: m, LogicalClusters: m,
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, bench := range map[string]struct {
		user       user.Info
		attributes authorizer.AttributesRecord
		want       authorizer.Decision
	}{
		"WorkspaceAdmin":        {alice, configMap("create"), allowed},
		"Reader":                {carol, configMap("get"), allowed},
		"KcpAdmin":              {kcpAdmin, configMap("create"), allowed},
		"Stranger":              {bob, configMap("get"), undecided},
		"ForeignServiceAccount": {serviceAccountOf("teamb"), configMap("get"), undecided},
		"Masters":               {masters, configMap("get"), allowed},
	} {
		b.Run(name, func(b *testing.B) {
			ctx := in(b, teamA)
			bench.attributes.User = bench.user
			b.ReportAllocs()
			for b.Loop() {
				if got, _, err := a.Authorize(ctx, &bench.attributes); err != nil || got != bench.want {
					b.Fatal(got, err)
				}
			}
		})
	}
}
