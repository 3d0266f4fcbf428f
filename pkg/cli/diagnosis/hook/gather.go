package hook

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const accountPrefix = "system:serviceaccount:"

var (
	roles    = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	bindings = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// Gatherer asks the server.
type Gatherer struct {
	Client   *client.Client
	Commands diagnosis.Commands
	// OlderThan is how long somebody may wait before it blocks.
	OlderThan time.Duration
	// As is somebody of whom it is asked whether he may act as the hook; empty for nobody.
	As string
	// ClientAs returns a client that asks as somebody else.
	ClientAs func(user string, extra map[string][]string) (*client.Client, error)
}

// Gather asks for everything that matters about the hook that id names.
func (g Gatherer) Gather(ctx context.Context, kind Kind, id string) *Findings {
	f := &Findings{
		Described: Describe(ctx, g.Client, kind, id),
		Commands:  g.Commands, Now: time.Now(), OlderThan: g.OlderThan,
	}
	f.Allowed, f.AllowedErr = g.Client.Review(ctx, f.Path, f.acting())
	f.Waiting, f.WaitingErr = kind.Virtual(g.Client, f.ID).Waiting(ctx)
	if f.WaitingErr != nil {
		g.workspaces(ctx, f)
	}
	if f.Type != nil {
		f.Asked = g.asked(f)
		g.grants(ctx, f)
	}
	if g.As != "" {
		f.Other = g.other(ctx, f)
	}
	return f
}

// acting is what has to be permitted.
func (f *Findings) acting() authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{
		Verb: f.Kind.Verb(), Group: tenancyv1alpha1.GroupName, Version: tenancyv1alpha1.GroupVersion.Version,
		Resource: types.Resource, Name: f.TypeName,
	}
}

// workspaces looks for those that wait without the virtual workspace.
func (g Gatherer) workspaces(ctx context.Context, f *Findings) {
	places := []logicalcluster.Path{f.Path}
	if here := g.Commands.Here; !here.Empty() && here != f.Path {
		places = append(places, here)
	}
	for _, place := range places {
		if place.Empty() {
			continue
		}
		all, err := g.Client.Workspaces(ctx, place)
		if err != nil {
			continue
		}
		f.Looked = append(f.Looked, place.String())
		for i := range all {
			if (all[i].DeletionTimestamp != nil) == (f.Kind == Terminator) && slices.Contains(f.Kind.PendingOn(&all[i]), f.ID) {
				all[i].Name = place.Join(all[i].Name).String()
				f.Workspaces = append(f.Workspaces, all[i])
			}
		}
	}
}

// asked returns on how many shards the virtual workspace was asked: those that have the
// address of the server. Credentials are not sent elsewhere.
func (g Gatherer) asked(f *Findings) int {
	server, err := url.Parse(g.Client.URL(f.Path))
	if err != nil {
		return 0
	}
	asked := 0
	for _, virtual := range f.Kind.addresses(f.Type) {
		if address, err := url.Parse(virtual); err == nil && address.Host == server.Host {
			asked++
		}
	}
	return asked
}

// grants finds out who was permitted to act as the hook.
func (g Gatherer) grants(ctx context.Context, f *Findings) {
	granting, err := client.List[rbacv1.ClusterRole](ctx, g.Client, f.Path, roles)
	if err != nil {
		f.GrantsErr = err
		return
	}
	bound, err := client.List[rbacv1.ClusterRoleBinding](ctx, g.Client, f.Path, bindings)
	if err != nil {
		f.GrantsErr = err
		return
	}
	f.Grants = grantees(f.Kind.Verb(), f.TypeName, granting, bound)
	// Without them there are fewer suggestions, nothing else.
	all, _ := client.List[metav1.PartialObjectMetadata](ctx, g.Client, f.Path, accounts)
	for i := range all {
		if all[i].Name != "default" {
			f.Accounts = append(f.Accounts, accountPrefix+all[i].Namespace+":"+all[i].Name)
		}
	}
	slices.Sort(f.Accounts)
}

// grantees returns whom roles permit the verb by its name. Those who may do everything,
// administrators, are no controllers.
func grantees(verb, name string, granting []rbacv1.ClusterRole, bound []rbacv1.ClusterRoleBinding) []rbacv1.Subject {
	var found []rbacv1.Subject
	for i := range bound {
		ref := bound[i].RoleRef
		j := slices.IndexFunc(granting, func(r rbacv1.ClusterRole) bool { return r.Name == ref.Name })
		if ref.Kind != "ClusterRole" || j < 0 || !slices.ContainsFunc(granting[j].Rules, func(r rbacv1.PolicyRule) bool { return names(r, verb, name) }) {
			continue
		}
		for _, subject := range bound[i].Subjects {
			if !slices.Contains(found, subject) {
				found = append(found, subject)
			}
		}
	}
	return found
}

// names says whether a rule permits a verb on a workspace type.
func names(rule rbacv1.PolicyRule, verb, name string) bool {
	has := func(all []string, one string) bool {
		return slices.Contains(all, one) || slices.Contains(all, rbacv1.ResourceAll)
	}
	return slices.Contains(rule.Verbs, verb) && has(rule.APIGroups, tenancyv1alpha1.GroupName) && has(rule.Resources, types.Resource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, name))
}

// other finds out whether somebody else may act as the hook.
func (g Gatherer) other(ctx context.Context, f *Findings) *Other {
	other := &Other{User: g.As}
	spec := authorizationv1.SubjectAccessReviewSpec{User: g.As, Groups: []string{"system:authenticated"}}
	extra := map[string][]string{}
	if account, ok := strings.CutPrefix(g.As, accountPrefix); ok {
		namespace, _, _ := strings.Cut(account, ":")
		spec.Groups = append(spec.Groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
		cluster, _, _ := Split(f.ID)
		extra[diagnosis.OriginKey] = []string{cluster}
		spec.Extra = map[string]authorizationv1.ExtraValue{diagnosis.OriginKey: {cluster}}
	}
	if len(extra) > 0 {
		// Service accounts may enter the workspace that they are in.
		other.Access.Allowed = true
	}
	entering := spec
	entering.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: "/", Verb: "access"}
	acting := spec
	attributes := f.acting()
	acting.ResourceAttributes = &attributes
	if other.Allowed, other.Err = g.Client.ReviewOf(ctx, f.Path, acting); other.Err != nil {
		return other
	}
	if !other.Access.Allowed {
		other.Access, other.Err = g.Client.ReviewOf(ctx, f.Path, entering)
	}
	if other.Allowed.Allowed {
		other.VirtualErr = g.reach(ctx, f, extra)
	}
	return other
}

// reach asks the virtual workspace as the other one.
func (g Gatherer) reach(ctx context.Context, f *Findings, extra map[string][]string) error {
	c, err := g.ClientAs(g.As, extra)
	if err != nil {
		return err
	}
	_, err = f.Kind.Virtual(c, f.ID).Waiting(ctx)
	return err
}
