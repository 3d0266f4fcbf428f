package binding_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/binding"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	ourIdentity   = "0123456789abcdef0123"
	otherIdentity = "fedcba9876543210fedc"
)

var (
	now       = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)
	consumer  = logicalcluster.MustParsePath("root:shop")
	provider  = logicalcluster.MustParsePath("root:platform")
	issuers   = schema.GroupResource{Group: "c.io", Resource: "issuers"}
	exports   = schema.GroupResource{Group: "apis.kcp.io", Resource: "apiexports"}
	forbidden = apierrors.NewForbidden(exports, "certs", errors.New("unable to create APIBinding: no permission to bind to export root:platform:certs"))
	quota     = apierrors.NewForbidden(schema.GroupResource{Group: "apis.kcp.io", Resource: "apibindings"}, "", errors.New("exceeded quota"))
	notFound  = apierrors.NewNotFound(exports, "certs")
)

// findings are those of a binding that is bound, with changes.
func findings(edit func(f *binding.Findings)) *binding.Findings {
	f := &binding.Findings{
		Consumer: consumer, Provider: provider, ExportName: "certs", Now: now, User: "bob",
		Commands: diagnosis.Commands{Here: consumer, URL: func(p logicalcluster.Path) string { return "https://server/clusters/" + p.String() }},
		Objects:  map[string]int{}, Denied: map[schema.GroupResource]binding.Denial{},
		MayBind: authorizationv1.SubjectAccessReviewStatus{Allowed: true},
		Binding: &client.Binding{}, Export: &client.Export{}, Shards: 2,
		Slices: []apisv1alpha1.APIExportEndpointSlice{{Status: apisv1alpha1.APIExportEndpointSliceStatus{APIExportEndpoints: []apisv1alpha1.APIExportEndpoint{{URL: "a"}, {URL: "b"}}}}},
	}
	f.Binding.Name = "certs"
	f.Binding.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: provider.String(), Name: "certs"}
	f.Binding.Status = apisv1alpha2.APIBindingStatus{Phase: apisv1alpha2.APIBindingPhaseBound, BoundResources: []apisv1alpha2.BoundAPIResource{bound("issuers", ourIdentity)}}
	f.Export.Name = "certs"
	f.Export.Spec.Resources = []apisv1alpha2.ResourceSchema{{Group: "c.io", Name: "issuers", Schema: "v1.issuers.c.io"}}
	f.Export.Status.IdentityHash = ourIdentity
	if edit != nil {
		edit(f)
	}
	return f
}

func bound(resource, identity string) apisv1alpha2.BoundAPIResource {
	return apisv1alpha2.BoundAPIResource{Group: "c.io", Resource: resource, Schema: apisv1alpha2.BoundAPIResourceSchema{Name: "v1." + resource + ".c.io", IdentityHash: identity}}
}

// unbound makes a binding of which nothing is bound, and says why.
func unbound(f *binding.Findings, t conditions.Type, reason, message string) {
	f.Binding.Status.Phase, f.Binding.Status.BoundResources = apisv1alpha2.APIBindingPhaseBinding, nil
	f.Binding.Status.Conditions = conditions.Conditions{{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
}

func claimOf(resource, identity string) apisv1alpha2.PermissionClaim {
	c := apisv1alpha2.PermissionClaim{Verbs: []string{"get"}, IdentityHash: identity}
	c.Resource = resource
	if identity != "" {
		c.Group = "c.io"
	}
	return c
}

func answer(c apisv1alpha2.PermissionClaim, state apisv1alpha2.AcceptablePermissionClaimState) apisv1alpha2.AcceptablePermissionClaim {
	a := apisv1alpha2.AcceptablePermissionClaim{State: state}
	a.PermissionClaim = c
	return a
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		reason   string
		edit     func(f *binding.Findings)
		states   []string
		blockers []string
		// next are the first steps of the first blocker or, without one, of the checks.
		next []string
	}{
		"Bound": {reason: "nothing blocks what is bound", states: []string{"you may bind=ok", "export=ok", "resources=ok"}},
		"Definition": {
			reason: "a definition of the workspace is in the way, and what goes with it is counted",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.InitialBindingCompleted, "NamingConflicts", "taken")
				crd := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "issuers.c.io"}}
				crd.Spec.Group, crd.Spec.Names.Plural = "c.io", "issuers"
				f.Definitions, f.Objects["issuers.c.io"] = []apiextensionsv1.CustomResourceDefinition{crd}, 12
			},
			states: []string{"you may bind=ok", "export=ok", "resources=failed"}, blockers: []string{"issuers.c.io is served by a CRD of this workspace"},
			next: []string{"kubectl delete crd issuers.c.io  # deletes 12 objects"},
		},
		"OtherBinding": {
			reason: "another binding is in the way, and it is said which",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.InitialBindingCompleted, "NamingConflicts", "taken")
				other := client.Binding{}
				other.Name, other.Status.BoundResources = "first", []apisv1alpha2.BoundAPIResource{bound("issuers", otherIdentity)}
				other.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: "root:else", Name: "certs"}
				f.Others = []client.Binding{other}
			},
			states: []string{"you may bind=ok", "export=ok", "resources=failed"}, blockers: []string{"issuers.c.io is bound by APIBinding first to root:else:certs"},
			next: []string{"kubectl kcp unbind first"},
		},
		"NameTaken": {
			reason: "who has a name of the resource, and not the resource, is found in what the server says",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.InitialBindingCompleted, "NamingConflicts", `naming conflict with CustomResourceDefinition "x.c.io": spec.names.kind=Issuer is forbidden`)
			},
			states: []string{"you may bind=ok", "export=ok", "resources=failed"}, blockers: []string{"naming conflict"}, next: []string{"kubectl delete crd x.c.io"},
		},
		"SchemaMissing": {
			reason: "an export may name a schema that is not there",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.APIExportValid, "InternalError", "not found")
				f.MissingSchemas = []string{"v1.issuers.c.io"}
			},
			states: []string{"you may bind=ok", "export=ok", "resources=failed"}, blockers: []string{"schema v1.issuers.c.io, which the export names, is not there"},
			next: []string{"kubectl get apiresourceschemas --server=https://server/clusters/root:platform"},
		},
		"ExportMissing": {
			reason: "a binding that has nothing yet can be made anew",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.APIExportValid, "APIExportNotFound", "not found")
				near := client.Export{}
				near.Name = "cert"
				f.Export, f.ExportErr, f.Exports = nil, notFound, []client.Export{near}
			},
			states: []string{"you may bind=ok", "export=failed"}, blockers: []string{"there is no APIExport certs in root:platform"},
			next: []string{"kubectl kcp unbind certs", "kubectl kcp bind apiexport root:platform:cert --name certs"},
		},
		"ExportLost": {
			reason: "one that has something is not to be unbound, since its objects would go",
			edit:   func(f *binding.Findings) { f.Export, f.ExportErr = nil, notFound },
			states: []string{"you may bind=ok", "export=failed", "resources=ok"}, blockers: []string{"what was bound is served as it was"},
			next: []string{"kubectl get apiexports --server=https://server/clusters/root:platform"},
		},
		"ExportUnread": {
			reason: "what may not be read is unknown",
			edit: func(f *binding.Findings) {
				f.Export, f.ExportErr, f.SlicesErr, f.MayBindErr = nil, forbidden, forbidden, forbidden
			},
			states: []string{"you may bind=unknown", "export=unknown", "resources=ok"},
		},
		"ExportUnreadAndInvalid": {
			reason: "but what the binding says of it is believed",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.APIExportValid, "MissingIdentityHash", "it has no identity")
				f.Export, f.ExportErr, f.MayBindErr = nil, forbidden, forbidden
			},
			states: []string{"you may bind=unknown", "export=failed"}, blockers: []string{"the export cannot be bound: it has no identity"}, next: []string{"kubectl get apiexport certs"},
		},
		"NoIdentity": {
			reason: "an export without an identity cannot be bound",
			edit: func(f *binding.Findings) {
				unbound(f, apisv1alpha1.APIExportValid, "MissingIdentityHash", "none")
				f.Export.Status = apisv1alpha2.APIExportStatus{Conditions: conditions.Conditions{{Type: apisv1alpha1.APIExportIdentityValid, Status: corev1.ConditionFalse, Message: "the secret is gone"}}}
			},
			states: []string{"you may bind=ok", "export=failed"}, blockers: []string{"the export has no identity: the secret is gone"}, next: []string{"kubectl describe apiexport certs"},
		},
		"Stranger": {
			reason: "an export that was made anew is bound when the binding changes",
			edit: func(f *binding.Findings) {
				f.Binding.Status.Conditions = conditions.Conditions{{Type: apisv1alpha1.APIExportValid, Status: corev1.ConditionFalse, Reason: "APIExportInvalidReference"}}
				f.Export.Status.IdentityHash = otherIdentity
			},
			states: []string{"you may bind=ok", "export=failed"}, blockers: []string{"the export was made anew"}, next: []string{"kubectl label apibinding certs cli.kcp.io/rebound=fedcba987654 --overwrite"},
		},
		"NoEndpoints": {
			reason: "the controller of the provider finds nobody", edit: func(f *binding.Findings) { f.Slices = nil },
			states: []string{"you may bind=ok", "export=warning", "resources=ok"}, next: []string{"kubectl get apiexportendpointslices"},
		},
		"Denied": {
			reason: "a policy may deny what is bound", edit: func(f *binding.Findings) { f.Denied[issuers] = binding.Denial{Reason: "access denied"} },
			states: []string{"you may bind=ok", "export=ok", "resources=warning"},
		},
		"DeniedHere": {
			reason: "where no role of the workspace grants it, one there does",
			edit:   func(f *binding.Findings) { f.Denied[issuers] = binding.Denial{By: binding.ConsumerPolicy} },
			states: []string{"you may bind=ok", "export=ok", "resources=warning"},
			next: []string{
				`echo '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"read-issuers.c.io"},"rules":[{"verbs":["get","list","watch"],"apiGroups":["c.io"],"resources":["issuers"]}]}' | kubectl apply -f - --server=https://server/clusters/root:shop  # to be run by an administrator of root:shop`,
				"kubectl create clusterrolebinding read-issuers.c.io-bob --clusterrole=read-issuers.c.io --user=bob --server=https://server/clusters/root:shop",
			},
		},
		"DeniedByProvider": {
			reason: "where one does, it is the provider who has to, and he knows the caller by another name",
			edit:   func(f *binding.Findings) { f.Denied[issuers] = binding.Denial{By: binding.ProviderPolicy} },
			states: []string{"you may bind=ok", "export=ok", "resources=warning"},
			next: []string{
				"echo ", "kubectl create clusterrolebinding read-issuers.c.io-apis.kcp.io-binding-bob --clusterrole=read-issuers.c.io --user=apis.kcp.io:binding:bob --server=https://server/clusters/root:platform",
			},
		},
		"NotBoundYet": {
			reason: "one that would be bound can be", edit: func(f *binding.Findings) { f.Binding = nil },
			states: []string{"you may bind=ok", "export=ok", "resources=ok"}, next: []string{"kubectl kcp bind apiexport root:platform:certs"},
		},
		"MayNotBind": {
			reason: "a binding that would be refused needs a role in the provider's workspace",
			edit: func(f *binding.Findings) {
				f.Binding, f.TryErr, f.Export, f.ExportErr = nil, forbidden, nil, forbidden
			},
			states: []string{"you may bind=failed", "export=unknown"}, blockers: []string{"you may not bind root:platform:certs, if there is such an export"},
			next: []string{"echo ", "kubectl create clusterrolebinding bind-certs-bob --clusterrole=bind-certs --user=bob --server=https://server/clusters/root:platform", "kubectl kcp bind apiexport root:platform:certs"},
		},
		"MayNotCreate": {
			reason: "who may make no bindings is told that; whether he may bind the server has not looked at",
			edit: func(f *binding.Findings) {
				f.Binding, f.TryErr, f.Export, f.ExportErr, f.MayBindErr = nil, quota, nil, forbidden, forbidden
				f.Lacks = []string{"create", "get"}
			},
			states: []string{"you may create=failed", "you may bind=unknown", "export=unknown"}, blockers: []string{"you may not create and get apibindings in root:shop"},
			next: []string{
				`echo '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"make-apibindings"},"rules":[{"verbs":["create","get"],"apiGroups":["apis.kcp.io"],"resources":["apibindings"]}]}' | kubectl apply -f - --server=https://server/clusters/root:shop`,
				"kubectl create clusterrolebinding make-apibindings-bob --clusterrole=make-apibindings --user=bob --server=https://server/clusters/root:shop",
				"kubectl kcp debug binding root:platform:certs",
			},
		},
		"MayNeither": {
			reason: "who lacks both, as he can ask where the export is, is told both",
			edit: func(f *binding.Findings) {
				f.Binding, f.TryErr, f.MayBind.Allowed, f.Lacks = nil, quota, false, []string{"create"}
			},
			states: []string{"you may create=failed", "you may bind=failed", "export=ok", "resources=ok"}, blockers: []string{"you may not create apibindings in root:shop, nor bind root:platform:certs"},
			next: []string{"echo ", "kubectl create clusterrolebinding make-apibindings-bob", "echo ", "kubectl create clusterrolebinding bind-certs-bob", "kubectl kcp bind apiexport root:platform:certs"},
		},
		"MayNotLook": {
			reason: "who could bind, and not wait for it, lacks that",
			edit: func(f *binding.Findings) {
				f.Binding, f.Lacks, f.MayBindErr = nil, []string{"get"}, forbidden
			},
			states: []string{"you may create=failed", "you may bind=ok", "export=ok", "resources=ok"}, blockers: []string{"you may not get apibindings in root:shop"},
			next: []string{"echo ", "kubectl create clusterrolebinding make-apibindings-bob", "kubectl kcp bind apiexport root:platform:certs"},
		},
		"Refused": {
			reason: "not all that is forbidden is a matter of permissions to bind",
			edit:   func(f *binding.Findings) { f.Binding, f.TryErr = nil, quota },
			states: []string{"you may bind=failed", "export=ok", "resources=ok"}, blockers: []string{"the server refuses such a binding: "},
		},
		"OpenClaim": {
			reason: "a claim that nobody has answered blocks what is bound",
			edit: func(f *binding.Findings) {
				f.Binding.Status.ExportPermissionClaims = []apisv1alpha2.PermissionClaim{claimOf("secrets", ""), claimOf("configmaps", ""), claimOf("events", "")}
				f.Binding.Spec.PermissionClaims = []apisv1alpha2.AcceptablePermissionClaim{
					answer(claimOf("secrets", ""), apisv1alpha2.ClaimAccepted), answer(claimOf("events", ""), apisv1alpha2.ClaimRejected),
				}
			},
			states: []string{"you may bind=ok", "export=ok", "resources=ok", "claims=warning"}, blockers: []string{"claim configmaps is open"},
			next: []string{"kubectl kcp claims accept certs --resource configmaps"},
		},
		"Mismatch": {
			reason: "who may change the export lets it claim what is bound here, and what was accepted follows",
			edit: func(f *binding.Findings) {
				f.MayPatchExport = true
				f.Binding.Status.ExportPermissionClaims = []apisv1alpha2.PermissionClaim{claimOf("issuers", otherIdentity)}
				f.Binding.Spec.PermissionClaims = []apisv1alpha2.AcceptablePermissionClaim{answer(claimOf("issuers", otherIdentity), apisv1alpha2.ClaimAccepted)}
			},
			states: []string{"you may bind=ok", "export=ok", "resources=ok", "claims=warning"}, blockers: []string{"claim issuers.c.io is about identity fedcba987654, but APIBinding certs has bound identity 0123456789ab here"},
			next: []string{"kubectl patch apiexport certs --type=json", "kubectl patch apibinding certs --type=json"},
		},
		"MismatchOfOthers": {
			reason: "who may not is told who has to",
			edit: func(f *binding.Findings) {
				f.Binding.Status.ExportPermissionClaims = []apisv1alpha2.PermissionClaim{claimOf("issuers", otherIdentity)}
			},
			states: []string{"you may bind=ok", "export=ok", "resources=ok", "claims=warning"}, blockers: []string{"claim issuers.c.io is about identity"},
			next: []string{"kubectl kcp claims get apibinding certs --wide  # the provider has to claim identity 0123456789ab"},
		},
		"Deletion": {
			reason: "what holds a binding that goes is taken off object by object",
			edit: func(f *binding.Findings) {
				f.Binding.DeletionTimestamp = &metav1.Time{Time: now}
				f.Held = []finalizer.Held{{Resource: issuers, Objects: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"x/y"}}}}}}
			},
			states: []string{"deletion=waiting"}, blockers: []string{"issuers.c.io a has finalizer x/y"}, next: []string{"kubectl patch issuers.c.io a --type=json"},
		},
		"New": {
			reason: "nobody has looked at it yet", edit: func(f *binding.Findings) { unbound(f, "Else", "", "") },
			states: []string{"you may bind=ok", "export=ok", "resources=failed"}, blockers: []string{"nothing on the server has bound it yet"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := binding.Judge(findings(c.edit))
			var states, next []string
			for _, check := range d.Checks {
				states = append(states, check.Name+"="+string(check.State))
				next = append(next, check.Next...)
			}
			if !slices.Equal(states, c.states) {
				t.Errorf("%s: checks are %q, want %q", c.reason, states, c.states)
			}
			if len(d.Blockers) != len(c.blockers) {
				t.Fatalf("%s: blockers are %+v, want %q", c.reason, d.Blockers, c.blockers)
			}
			for i, want := range c.blockers {
				if !strings.Contains(d.Blockers[i].Message, want) {
					t.Errorf("%s: blocker %d is %q, want %q", c.reason, i, d.Blockers[i].Message, want)
				}
			}
			if len(d.Blockers) > 0 {
				next = d.Blockers[0].Next
			}
			if len(next) < len(c.next) {
				t.Fatalf("%s: next is %q, want %q", c.reason, next, c.next)
			}
			for i, want := range c.next {
				if !strings.HasPrefix(next[i], want) {
					t.Errorf("%s: step %d is %q, want %q", c.reason, i, next[i], want)
				}
			}
		})
	}
}
