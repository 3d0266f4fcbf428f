package hookcontent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/route"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

var (
	team     = logicalcluster.MustParseName("team1")
	provider = logicalcluster.MustParseName("provider")
)

// Hooks of the tests: shop has permissions, bare has none, gone has no type.
const (
	shop = "provider:shop"
	bare = "provider:bare"
	gone = "provider:gone"
	own  = "system:apibindings"
)

// stored is what is in storage.
type stored struct {
	clusters map[logicalcluster.Name]*corev1alpha1.LogicalCluster
	types    map[string]*tenancyv1alpha1.WorkspaceType
}

type clustersIn struct{ *stored }

func (s clustersIn) GetCurrent(_ context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	if lc, ok := s.clusters[cluster]; ok {
		return lc, nil
	}
	return nil, apierrors.NewNotFound(corev1alpha1.Resource("logicalclusters"), cluster.String())
}

type typesIn struct{ *stored }

func (s typesIn) GetCurrent(_ context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	if found, ok := s.types[cluster.String()+":"+name]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspacetypes"), name)
}

// initializing returns a logical cluster of alice that waits for hooks.
func initializing(hooks ...corev1alpha1.Initializer) *corev1alpha1.LogicalCluster {
	lc := &corev1alpha1.LogicalCluster{}
	lc.Spec.CreatedBy = &authenticationv1.UserInfo{
		Username: "alice", UID: "7", Groups: []string{"team-1", identity.Admin, identity.Masters, user.AllAuthenticated},
		Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
	}
	lc.Status.Phase, lc.Status.Initializers = corev1alpha1.PhaseInitializing, hooks
	return lc
}

// terminating returns one that is being deleted and waits for hooks.
func terminating(hooks ...corev1alpha1.Terminator) *corev1alpha1.LogicalCluster {
	lc := initializing()
	lc.DeletionTimestamp = &metav1.Time{}
	*lc.DeletionTimestamp = metav1.Now()
	lc.Status.Phase, lc.Status.Terminators = corev1alpha1.PhaseTerminating, hooks
	return lc
}

func with(lc *corev1alpha1.LogicalCluster, edit func(*corev1alpha1.LogicalCluster)) *corev1alpha1.LogicalCluster {
	edit(lc)
	return lc
}

// newStored returns storage with lc, nil for none, and the types of the tests.
func newStored(lc *corev1alpha1.LogicalCluster) *stored {
	s := &stored{clusters: map[logicalcluster.Name]*corev1alpha1.LogicalCluster{}, types: map[string]*tenancyv1alpha1.WorkspaceType{}}
	if lc != nil {
		s.clusters[team] = lc
	}
	permissions := &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	permissions.Spec.InitializerPermissions = []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"one"}, Verbs: []string{"get"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments/scale"}, Verbs: []string{"*"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"create"}},
		{APIGroups: []string{corev1alpha1.GroupName}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{NonResourceURLs: []string{"/api", "/apis/*", "/metrics", "/debug/*"}, Verbs: []string{"get"}},
	}
	permissions.Spec.TerminatorPermissions = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}
	s.types[shop] = permissions
	s.types[bare] = &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	return s
}

// recorded is what a Recorder was told.
type recorded struct{ cluster, hook, user string }

type recorder struct{ all []recorded }

func (r *recorder) Record(_ context.Context, cluster logicalcluster.Name, hook tenancy.Hook, user string) {
	r.all = append(r.all, recorded{cluster.String(), string(hook.Kind) + " " + hook.ID, user})
}

// served is a request as the workspace gets to see it.
type served struct {
	user    user.Info
	cluster string
	header  http.Header
}

// bench is a Content between a router and a workspace.
type bench struct {
	*Content
	recorder *recorder
	// deny is what the workspace does not allow: a verb.
	deny string
	// status is how the workspace answers, 200 if 0.
	status int
	// seen is the last request that got through.
	seen *served
	// during, if set, is called while a request is served.
	during func(ctx context.Context)
}

var codecs = serializer.NewCodecFactory(statuses())

// statuses is a scheme with which errors can be encoded.
func statuses() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}

func newBench(s *stored) *bench {
	b := &bench{recorder: &recorder{}}
	b.Content = New(Config{
		Clusters: clustersIn{s},
		Types:    typesIn{s},
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetVerb() == b.deny {
				return authorizer.DecisionNoOpinion, "access denied", nil
			}
			return authorizer.DecisionAllow, "", nil
		}),
		Recorder:   b.recorder,
		Serializer: codecs,
	})
	return b
}

var caller = &user.DefaultInfo{Name: "controller", UID: "9", Groups: []string{"crew", user.AllAuthenticated}, Extra: map[string][]string{"e": {"x"}}}

func (b *bench) do(ctx context.Context, as user.Info, method, virtual, id string, cluster logicalcluster.Name, url string, header http.Header) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(ctx, method, url, http.NoBody)
	req.Header = header.Clone()
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := resolver.NewRequestInfo(req)
	if err != nil {
		panic(err)
	}
	ctx = request.WithRequestInfo(request.WithUser(req.Context(), as), info)
	ctx = route.NewVirtualContext(ctx, route.VirtualWorkspace{Name: virtual, Segments: []string{id}, Home: provider})
	ctx = logicalcluster.NewContext(ctx, cluster)
	b.seen = nil
	w := httptest.NewRecorder()
	b.Handler(http.HandlerFunc(b.workspace)).ServeHTTP(w, req.WithContext(ctx))
	return w
}

func (b *bench) workspace(w http.ResponseWriter, req *http.Request) {
	u, _ := request.UserFrom(req.Context())
	in, _ := logicalcluster.FromContext(req.Context())
	_, isVirtual := route.VirtualFrom(req.Context())
	if isVirtual {
		panic("the workspace is no virtual one")
	}
	b.seen = &served{user: u, cluster: in.String(), header: req.Header}
	if b.during != nil {
		b.during(req.Context())
	}
	if b.status != 0 {
		w.WriteHeader(b.status)
		return
	}
	_, _ = w.Write([]byte("served"))
}

const (
	initializers = "initializingworkspaces"
	terminators  = "terminatingworkspaces"
	configMaps   = "/api/v1/namespaces/default/configmaps"
	lcs          = "/apis/core.kcp.io/v1alpha1/logicalclusters"
)

func TestAnswers(t *testing.T) {
	ready := with(initializing(shop), func(lc *corev1alpha1.LogicalCluster) { lc.Status.Phase = corev1alpha1.PhaseReady })
	nobodys := with(initializing(bare), func(lc *corev1alpha1.LogicalCluster) { lc.Spec.CreatedBy = nil })
	unborn := with(initializing(shop), func(lc *corev1alpha1.LogicalCluster) { lc.Status.Phase = corev1alpha1.PhaseScheduling })
	alive := with(terminating(shop), func(lc *corev1alpha1.LogicalCluster) { lc.DeletionTimestamp = nil })
	get, post := http.MethodGet, http.MethodPost
	for name, tc := range map[string]struct {
		reason              string
		lc                  *corev1alpha1.LogicalCluster
		virtual, id, method string
		url                 string
		code                int
		text                []string
		in                  logicalcluster.Name
	}{
		"NoCluster":       {reason: "first, the logical cluster has to exist", virtual: initializers, id: gone, method: get, url: "/api", code: 500, text: []string{"no logical cluster team1"}},
		"Ended":           {reason: "what a terminator waited for is gone when it is done", virtual: terminators, id: shop, method: get, url: "/api", code: 404, text: []string{"is gone"}},
		"NotPending":      {reason: "second, it has to wait for the hook", lc: initializing(bare), virtual: initializers, id: gone, method: get, url: "/api", code: 403, text: []string{`initializer "provider:gone" cannot access this workspace`}},
		"Ready":           {reason: "and to be initializing", lc: ready, virtual: initializers, id: shop, method: post, url: configMaps, code: 403, text: []string{`initializer "provider:shop" cannot access this workspace`}},
		"Unborn":          {reason: "which it is not before it has begun to", lc: unborn, virtual: initializers, id: shop, method: post, url: configMaps, code: 403, text: []string{"cannot access"}},
		"Alive":           {reason: "terminators wait for the end", lc: alive, virtual: terminators, id: shop, method: get, url: configMaps, code: 403, text: []string{`terminator "provider:shop" cannot access this workspace`}},
		"OtherKind":       {reason: "an initializer is no terminator", lc: terminating(), virtual: initializers, id: shop, method: get, url: configMaps, code: 403, text: []string{"cannot access"}},
		"PrefixOfHook":    {reason: "names are compared as a whole", lc: initializing(shop + "s"), virtual: initializers, id: shop, method: post, url: configMaps, code: 403, text: []string{"cannot access"}},
		"NoType":          {reason: "third, the type has to be there, or nobody knows what the hook may do", lc: initializing(gone), virtual: initializers, id: gone, method: get, url: "/api", code: 503, text: []string{`"provider:gone"`}},
		"NoRule":          {reason: "fourth, a rule has to allow it", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: configMaps + "/c", code: 403, text: []string{"initializerPermissions", "get on configmaps", `"c"`}},
		"NoRuleOfGroup":   {reason: "resources have groups", lc: initializing(shop), virtual: initializers, id: shop, method: post, url: "/apis/example.com/v1/configmaps", code: 403, text: []string{"create on example.com/configmaps"}},
		"NoRuleOfPart":    {reason: "a rule for a subresource is none for the resource", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/apis/apps/v1/namespaces/d/deployments/x", code: 403, text: []string{"get on apps/deployments"}},
		"NoRuleOfName":    {reason: "a rule for one name is none for others", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/api/v1/namespaces/d/secrets/two", code: 403, text: []string{`get on secrets "two"`}},
		"NoRuleOfPath":    {reason: "paths need rules as well", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/openapi/v2", code: 403, text: []string{`get on path "/openapi/v2"`}},
		"OtherRules":      {reason: "the permissions of the other hook of the type are not this one's", lc: terminating(shop), virtual: terminators, id: shop, method: post, url: configMaps, code: 403, text: []string{"terminatorPermissions", "create on configmaps"}},
		"Rule":            {reason: "what a rule allows is served", lc: initializing(shop), virtual: initializers, id: shop, method: post, url: configMaps, code: 200, text: []string{"served"}},
		"RuleOfPart":      {reason: "subresources by their own rules", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/apis/apps/v1/namespaces/d/deployments/x/scale", code: 200},
		"RuleOfName":      {reason: "names by theirs", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/api/v1/namespaces/d/secrets/one", code: 200},
		"RuleOfPath":      {reason: "and paths", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/apis/apps/v1", code: 200},
		"Terminator":      {reason: "terminators have rules of their own", lc: terminating(shop), virtual: terminators, id: shop, method: get, url: configMaps, code: 200},
		"OneOfTwo":        {reason: "others may be waited for at the same time", lc: initializing(bare, shop), virtual: initializers, id: shop, method: post, url: configMaps, code: 200},
		"Creator":         {reason: "without rules everything goes that the creator may", lc: initializing(bare), virtual: initializers, id: bare, method: get, url: configMaps, code: 200},
		"NoCreator":       {reason: "if there was one", lc: nobodys, virtual: initializers, id: bare, method: get, url: configMaps, code: 500, text: []string{"does not say who created it"}},
		"System":          {reason: "the server's own hooks have no type", lc: initializing(own), virtual: initializers, id: own, method: get, url: configMaps, code: 200},
		"Wildcard":        {reason: "there is no content of all clusters", lc: initializing(bare), virtual: initializers, id: bare, method: get, url: configMaps, code: 404, in: logicalcluster.Wildcard},
		"SystemCluster":   {reason: "nor of the server's own", lc: initializing(bare), virtual: initializers, id: bare, method: get, url: configMaps, code: 404, in: logicalcluster.SystemAdmin},
		"OtherVirtual":    {reason: "nor in other virtual workspaces", lc: initializing(bare), virtual: "apiexport", id: bare, method: get, url: configMaps, code: 404},
		"NoHook":          {reason: "nor for what is no hook", lc: initializing(bare), virtual: initializers, id: "bare", method: get, url: configMaps, code: 404},
		"Metrics":         {reason: "what is measured is no workspace's, whatever the rules say", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: "/metrics", code: 501},
		"MetricsBelow":    {reason: "nor is a part of it", lc: initializing(bare), virtual: initializers, id: bare, method: get, url: "/metrics/slis", code: 501},
		"MetricsEscaped":  {reason: "however it is spelled", lc: initializing(bare), virtual: initializers, id: bare, method: get, url: "/%6detrics", code: 501},
		"ReadCluster":     {reason: "rules may let a hook read the logical cluster among the content", lc: initializing(shop), virtual: initializers, id: shop, method: get, url: lcs, code: 200},
		"WriteCluster":    {reason: "but it is written at its own place, whatever they say", lc: initializing(shop), virtual: initializers, id: shop, method: http.MethodPatch, url: lcs + "/cluster", code: 405},
		"WriteAsCreator":  {reason: "nor as its creator", lc: initializing(bare), virtual: initializers, id: bare, method: http.MethodPut, url: lcs + "/cluster/status", code: 405},
		"DeleteClusters":  {reason: "nor all of them", lc: initializing(bare), virtual: initializers, id: bare, method: http.MethodDelete, url: lcs, code: 405},
		"NamespacedWrite": {reason: "nor as if it were in a namespace", lc: initializing(bare), virtual: initializers, id: bare, method: http.MethodPut, url: "/apis/core.kcp.io/v1alpha1/namespaces/x/logicalclusters/cluster", code: 405},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(newStored(tc.lc))
			in := team
			if !tc.in.Empty() {
				in = tc.in
			}
			got := b.do(t.Context(), caller, tc.method, tc.virtual, tc.id, in, tc.url, nil)
			if got.Code != tc.code {
				t.Errorf("%s: got %d %s, want %d", tc.reason, got.Code, got.Body, tc.code)
			}
			if (b.seen != nil) != (tc.code == http.StatusOK) {
				t.Errorf("%s: the workspace was reached: %t", tc.reason, b.seen != nil)
			}
			for _, text := range tc.text {
				if !strings.Contains(got.Body.String(), text) {
					t.Errorf("%s: want %q in %q", tc.reason, text, got.Body)
				}
			}
			if tc.code != http.StatusOK && tc.code != http.StatusMethodNotAllowed && !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") {
				t.Errorf("refusals are plain text, not %s", got.Header())
			}
		})
	}
}

// TestWhoActs is about the user that the workspace gets to see.
func TestWhoActs(t *testing.T) {
	marked := func(group string) *user.DefaultInfo {
		return &user.DefaultInfo{Name: "controller", UID: "9", Groups: []string{group, "crew", user.AllAuthenticated}, Extra: caller.Extra}
	}
	alice := func(groups ...string) *user.DefaultInfo {
		return &user.DefaultInfo{Name: "alice", UID: "7", Groups: append(groups, user.AllAuthenticated), Extra: map[string][]string{"k": {"v"}}}
	}
	admin := &user.DefaultInfo{Name: "kcp-admin", Groups: []string{identity.Admin, user.AllAuthenticated}}
	headers := http.Header{
		"Authorization": {"Bearer x"}, "Impersonate-User": {"root"}, "Impersonate-Group": {identity.Masters}, "Impersonate-Extra-A": {"b"},
		http.CanonicalHeaderKey(authz.DeepReviewHeader): {"true"}, "Accept": {"application/json"},
	}
	for name, tc := range map[string]struct {
		reason      string
		lc          *corev1alpha1.LogicalCluster
		as          user.Info
		virtual, id string
		url         string
		want        user.Info
	}{
		"Mode1Initializer": {"by permissions the caller acts as himself, marked", initializing(shop), caller, initializers, shop, "/api", marked(identity.InitializerPrefix + shop)},
		"Mode1Terminator":  {"as a terminator he is marked as one", terminating(shop), caller, terminators, shop, configMaps, marked(identity.TerminatorPrefix + shop)},
		"Mode2":            {"without them he acts as the creator, but in no group that works everywhere", initializing(bare), caller, initializers, bare, "/api", alice("team-1")},
		"Mode2Terminator":  {"a terminator does so too", terminating(bare), caller, terminators, bare, "/api", alice("team-1")},
		"Mode2Admin":       {"unless he is in that group himself", initializing(bare), admin, initializers, bare, "/api", alice("team-1", identity.Admin)},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(newStored(tc.lc))
			got := b.do(t.Context(), tc.as, http.MethodGet, tc.virtual, tc.id, team, tc.url, headers)
			if b.seen == nil {
				t.Fatalf("%s: got %d %s", tc.reason, got.Code, got.Body)
			}
			if diff := cmp.Diff(tc.want, b.seen.user); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(http.Header{"Accept": {"application/json"}}, b.seen.header); diff != "" {
				t.Errorf("what the client says of who it is has been heard (-want +got):\n%s", diff)
			}
			if b.seen.cluster != team.String() {
				t.Errorf("the request got to %s", b.seen.cluster)
			}
		})
	}
}

// TestPolicyOfTheWorkspace: whatever the type says, the workspace has the last word.
func TestPolicyOfTheWorkspace(t *testing.T) {
	b := newBench(newStored(initializing(shop)))
	b.deny = "create"
	if got := b.do(t.Context(), caller, http.MethodPost, initializers, shop, team, configMaps, nil); got.Code != http.StatusForbidden || b.seen != nil {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

func TestRecord(t *testing.T) {
	once := []recorded{{"team1", "initializing provider:shop", "controller"}}
	for name, tc := range map[string]struct {
		reason      string
		id          string
		method, url string
		status      int
		want        []recorded
	}{
		"Write":  {"who wrote is remembered", shop, http.MethodPost, configMaps, http.StatusCreated, once},
		"Silent": {"an answer without a code is a good one", shop, http.MethodPost, configMaps, 0, once},
		"Mode2":  {"as the creator it is still the controller who wrote", bare, http.MethodDelete, configMaps + "/c", 0, []recorded{{"team1", "initializing provider:bare", "controller"}}},
		"Failed": {"what failed was not written", shop, http.MethodPost, configMaps, http.StatusConflict, nil},
		"Read":   {"reading is not writing", bare, http.MethodGet, configMaps, 0, nil},
		"DryRun": {"nor is trying", shop, http.MethodPost, configMaps + "?dryRun=All", 0, nil},
		"Review": {"nor is asking", shop, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", http.StatusCreated, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(newStored(initializing(shop, bare)))
			b.status = tc.status
			got := b.do(t.Context(), caller, tc.method, initializers, tc.id, team, tc.url, nil)
			if b.seen == nil {
				t.Fatalf("got %d %s", got.Code, got.Body)
			}
			if diff := cmp.Diff(tc.want, b.recorder.all, cmp.AllowUnexported(recorded{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
