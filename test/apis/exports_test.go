package apis

import (
	"net/http"
	"strings"
	"testing"
)

var exportBehaviors = map[string]behavior{
	"Rules":    exportRules,
	"Defaults": exportDefaults,
	"Status":   exportStatus,
}

func export(name, spec string) string {
	return `{apiVersion: apis.kcp.io/v1alpha2, kind: APIExport, metadata: {name: ` + name + `}, spec: ` + spec + `}`
}

func oldExport(name, spec string) string {
	return `{apiVersion: apis.kcp.io/v1alpha1, kind: APIExport, metadata: {name: ` + name + `}, spec: ` + spec + `}`
}

func exportRules(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	for name, tc := range map[string]struct {
		reason string
		old    bool
		meta   string
		spec   string
		code   int
		words  []string
	}{
		"Nothing":           {reason: "an export may offer nothing", spec: `{}`, code: 201},
		"SchemaOfAnother":   {reason: "a schema is for its resource", spec: `{resources: [{name: widgets, group: example.com, schema: today.gadgets.example.com}]}`, code: 403, words: []string{"spec.resources[0].schema", "must end in .widgets.example.com"}},
		"SchemaWithout":     {reason: "and has a prefix", spec: `{resources: [{name: widgets, group: example.com, schema: .widgets.example.com}]}`, code: 403, words: []string{"must end in"}},
		"CoreGroup":         {reason: "the core group has no name", spec: `{resources: [{name: pods, group: "", schema: today.pods.core}]}`, code: 201},
		"CoreGroupNamed":    {reason: "but in names of schemas", spec: `{resources: [{name: pods, group: "", schema: today.pods.}]}`, code: 403, words: []string{"must end in .pods.core"}},
		"Twice":             {reason: "a resource is offered once", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c}, {name: a1, group: b.c, schema: y.a1.b.c}]}`, code: 422, words: []string{"Duplicate value"}},
		"StorageBoth":       {reason: "objects are in one place", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c, storage: {crd: {}, virtual: {identityHash: x, reference: {kind: K, name: a}}}}]}`, code: 422, words: []string{"Exactly one of crd or virtual must be set"}},
		"StorageNeither":    {reason: "and in some", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c, storage: {}}]}`, code: 422, words: []string{"Exactly one of crd or virtual must be set"}},
		"StorageVirtual":    {reason: "somebody else's too", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c, storage: {virtual: {identityHash: x, reference: {kind: K, name: a}}}}]}`, code: 201},
		"PolicyEmpty":       {reason: "a policy is somewhere", spec: `{maximalPermissionPolicy: {}}`, code: 422, words: []string{"maximalPermissionPolicy"}},
		"ClaimForeign":      {reason: "whose resources it wants is said", spec: `{permissionClaims: [{group: tenancy.kcp.io, resource: workspaces, verbs: ["*"]}]}`, code: 403, words: []string{"spec.permissionClaims[0].identityHash", "identityHash is required for API types that are not built-in"}},
		"ClaimIdentified":   {reason: "by an identity", spec: `{permissionClaims: [{group: tenancy.kcp.io, resource: workspaces, identityHash: abc, verbs: ["*"]}]}`, code: 201},
		"ClaimBuiltIn":      {reason: "every workspace has those", spec: `{permissionClaims: [{resource: configmaps, verbs: [get, list]}]}`, code: 201},
		"ClaimSharing":      {reason: "and those, served or not", spec: `{permissionClaims: [{group: apis.kcp.io, resource: apiconversions, verbs: ["*"]}]}`, code: 201},
		"ClaimTwice":        {reason: "a resource is claimed once", spec: `{permissionClaims: [{group: ab.c, resource: cc, identityHash: x, verbs: ["*"]}, {group: ab.c, resource: cc, identityHash: y, verbs: ["*"]}]}`, code: 422, words: []string{"Duplicate value"}},
		"ClaimNoVerbs":      {reason: "for something", spec: `{permissionClaims: [{resource: configmaps}]}`, code: 422, words: []string{"verbs"}},
		"ClaimEmptyVerbs":   {reason: "for something", spec: `{permissionClaims: [{resource: configmaps, verbs: []}]}`, code: 422, words: []string{"verbs"}},
		"ClaimSubresource":  {reason: "not for a subresource", spec: `{permissionClaims: [{resource: pods/log, verbs: [get]}]}`, code: 422, words: []string{"spec.permissionClaims[0].resource"}},
		"ClaimOneLetter":    {reason: "resources have two letters", spec: `{permissionClaims: [{resource: x, verbs: [get]}]}`, code: 422, words: []string{"spec.permissionClaims[0].resource"}},
		"ClaimGroup":        {reason: "groups are domains", spec: `{permissionClaims: [{group: A, resource: xx, identityHash: x, verbs: [get]}]}`, code: 422, words: []string{"spec.permissionClaims[0].group"}},
		"SelectorBoth":      {reason: "all and some contradict each other", spec: `{permissionClaims: [{resource: configmaps, verbs: ["*"], defaultSelector: {matchAll: true, matchLabels: {a: b}}}]}`, code: 403, words: []string{"matchLabels cannot be used with matchAll"}},
		"SelectorNone":      {reason: "nothing says nothing", spec: `{permissionClaims: [{resource: configmaps, verbs: ["*"], defaultSelector: {}}]}`, code: 403, words: []string{"either one of matchAll, matchLabels, or matchExpressions must be set"}},
		"Old":               {reason: "v1alpha1 names schemas", old: true, spec: `{latestResourceSchemas: [today.widgets.example.com]}`, code: 201},
		"OldName":           {reason: "by whole names", old: true, spec: `{latestResourceSchemas: [widgets.today]}`, code: 403, words: []string{"invalid schema name"}},
		"OldTwice":          {reason: "each once", old: true, spec: `{latestResourceSchemas: [a.b.c, a.b.c]}`, code: 422, words: []string{"Duplicate value"}},
		"OldTwoOfOne":       {reason: "one for each resource", old: true, spec: `{latestResourceSchemas: [today.widgets.example.com, yesterday.widgets.example.com]}`, code: 403, words: []string{"duplicate resource schema"}},
		"OldClaimNothing":   {reason: "a claim is for something", old: true, spec: `{permissionClaims: [{resource: configmaps}]}`, code: 422, words: []string{`either "all" or "resourceSelector" must be set`}},
		"OldClaimBoth":      {reason: "or everything", old: true, spec: `{permissionClaims: [{resource: configmaps, all: true, resourceSelector: [{name: a}]}]}`, code: 422, words: []string{`either "all" or "resourceSelector" must be set`}},
		"OldClaimNobody":    {reason: "an object has a name or a namespace", old: true, spec: `{permissionClaims: [{resource: configmaps, resourceSelector: [{}]}]}`, code: 422, words: []string{"at least one field must be set"}},
		"OldClaimForeign":   {reason: "rules are those of both versions", old: true, spec: `{permissionClaims: [{group: example.com, resource: widgets, all: true}]}`, code: 403, words: []string{"identityHash is required"}},
		"OldAnnotationText": {reason: "annotations can be read", old: true, meta: `annotations: {apis.v1alpha2.kcp.io/permission-claims: nonsense}`, spec: `{}`, code: 403, words: []string{"failed to decode overhanging"}},
		"OldAnnotationMore": {reason: "and say what the spec says", old: true, meta: `annotations: {apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get"]}]'}`, spec: `{}`, code: 403, words: []string{"permission claims defined in annotation do not match permission claims defined in spec"}},
		"OldAnnotationRes":  {reason: "nothing else", old: true, meta: `annotations: {apis.v1alpha2.kcp.io/resource-schemas: '[{"name":"b","group":"c","schema":"a.b.c","storage":{"virtual":{"identityHash":"x","reference":{"kind":"K","name":"n"}}}}]'}`, spec: `{latestResourceSchemas: [a.b.c]}`, code: 403, words: []string{"duplicate resource schema"}},
		"OldAnnotationVerb": {reason: "and nothing that v1alpha2 refuses", old: true, meta: `annotations: {apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get","get"]}]'}`, spec: `{permissionClaims: [{resource: secrets, all: true}]}`, code: 403, words: []string{"Duplicate value"}},
		"OldAnnotationBoth": {reason: "of resources neither", old: true, meta: `annotations: {apis.v1alpha2.kcp.io/resource-schemas: '[{"name":"b","group":"c","schema":"a.b.c","storage":{}}]'}`, spec: `{}`, code: 403, words: []string{"exactly one of crd or virtual must be set"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.t = t
			text, path := export(strings.ToLower(name), tc.spec), v2
			if tc.old {
				text, path = oldExport(strings.ToLower(name), tc.spec), v1
			}
			if tc.meta != "" {
				text = strings.Replace(text, "metadata: {", "metadata: {"+tc.meta+", ", 1)
			}
			a := c.do("POST", path+"/apiexports", text)
			if a.code != tc.code {
				t.Fatalf("%s: got %d, want %d: %s", tc.reason, a.code, tc.code, a.body)
			}
			answer := strings.ReplaceAll(a.body, `\"`, `"`)
			for _, word := range tc.words {
				if !strings.Contains(answer, word) {
					t.Errorf("%s: %q is not in %s", tc.reason, word, answer)
				}
			}
		})
	}
}

func exportDefaults(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	created := c.must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets",
		`{resources: [{name: widgets, group: example.com, schema: today.widgets.example.com}], permissionClaims: [{resource: configmaps, verbs: [get]}]}`))
	read := c.must(http.StatusOK, "GET", v2+"/apiexports/widgets", "")
	for _, a := range []answer{created, read} {
		equal(t, "objects are stored where they are bound", `[{name: widgets, group: example.com, schema: today.widgets.example.com, storage: {crd: {}}}]`, a, "spec", "resources")
		equal(t, "what is empty is said", `[{group: "", resource: configmaps, identityHash: "", verbs: [get]}]`, a, "spec", "permissionClaims")
	}
	equal(t, "where it is can be read", `"`+s.pathOf(c)+`"`, read, "metadata", "annotations", "kcp.io/path")
}

// pathOf returns the path of the workspace that c is in.
func (s suite) pathOf(c caller) string {
	return c.url[strings.LastIndex(c.url, "/")+1:]
}

// exportStatus: nobody but the system writes it, nor that of a binding, in any version.
func exportStatus(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	c := as(t, s.server, alice, p.path)
	c.must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	for _, version := range []string{v1, v2} {
		body := `{apiVersion: ` + strings.TrimPrefix(version, "/apis/") + `, kind: APIExport, metadata: {name: widgets}, status: {identityHash: forged}}`
		for _, method := range []string{"PUT", "PATCH"} {
			c.must(http.StatusForbidden, method, version+"/apiexports/widgets/status", body)
			as(t, s.server, s.server.Config(t, "base").BearerToken, p.path).must(http.StatusForbidden, method, version+"/apiexports/widgets/status", body)
		}
		c.must(http.StatusForbidden, "APPLY", version+"/apiexports/widgets/status?fieldManager=me", body)
		// What a client says of the status otherwise counts for nothing.
		c.must(http.StatusOK, "PATCH", version+"/apiexports/widgets", `{status: {identityHash: forged}}`)
	}
	if hash := c.must(http.StatusOK, "GET", v2+"/apiexports/widgets", "").field("status", "identityHash"); hash == `"forged"` {
		t.Error("somebody has written the status")
	}
}
