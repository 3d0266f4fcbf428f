package workspacetypes

import (
	"fmt"
	"testing"
)

var limits = map[string]behavior{
	"BothSides":   {"a child whose type forbids its parent is refused, and so is one whom the parent forbids", bothSides},
	"Inherited":   {"limits are inherited on both sides, and the message says from whom", inheritedLimits},
	"Alias":       {"row 23: what extends a type passes for it", alias},
	"None":        {"row 24: none is nobody, for parents and children", none},
	"BuiltIn":     {"row 22: organizations are below root only, teams below organizations and teams, homes nowhere", builtIn},
	"AtUse":       {"limits count at the time of use, and do not drive out those who are there", atUse},
	"ClusterName": {"limits are compared by canonical path: the name of a cluster fits nobody", clusterName},
}

const extendsUniversal = `"extend":{"with":[{"name":"universal","path":"root"}]}`

// types is a selector of types in one place.
func only(path string, names ...string) string {
	selected := ""
	for i, name := range names {
		if i > 0 {
			selected += ","
		}
		selected += fmt.Sprintf(`{"name":%q,"path":%q}`, name, path)
	}
	return `{"types":[` + selected + `]}`
}

func bothSides(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("shy", `{"limitAllowedParents":`+only(w.path, "friend")+`}`)
	w.newType("friend", `{`+extendsUniversal+`,"limitAllowedChildren":`+only(w.path, "shy")+`}`)
	_, err := w.tryWorkspace(w.path, "shy")
	refused(t, err, 403, w.path+":shy only allows parents of the types ["+w.path+":friend]", "but root:universal implements [root:universal]")
	friend := w.below(s, w.workspace(w.path, "friend"))
	friend.workspace(w.path, "shy")
	_, err = friend.tryWorkspace(w.path, "friend")
	refused(t, err, 403, w.path+":friend only allows children of the types ["+w.path+":shy]")
	// Both at once are said at once.
	w.newType("stranger", `{"limitAllowedParents":`+only("root", "organization")+`}`)
	_, err = friend.tryWorkspace(w.path, "stranger")
	refused(t, err, 403, ":stranger only allows parents of the types [root:organization]", "; ", ":friend only allows children of the types")
}

func inheritedLimits(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("leaf", `{"limitAllowedChildren":{"none":true}}`)
	w.newType("better-leaf", `{"extend":{"with":[{"name":"universal"},{"name":"leaf"}]}}`)
	w.newType("rooted", `{"limitAllowedParents":`+only("root", "root")+`}`)
	w.newType("better-rooted", `{"extend":{"with":[{"name":"rooted"}]}}`)
	leaf := w.below(s, w.workspace(w.path, "better-leaf"))
	_, err := leaf.tryWorkspace("root", "universal")
	refused(t, err, 403, w.path+":better-leaf extends "+w.path+":leaf, which allows no children")
	_, err = w.tryWorkspace(w.path, "better-rooted")
	refused(t, err, 403, w.path+":better-rooted extends "+w.path+":rooted, which only allows parents of the types [root:root]")
	s.root(t).workspace(w.path, "better-rooted")
}

func alias(t *testing.T, s *suite) {
	root := s.root(t)
	organization := root.below(s, root.workspace("root", "organization"))
	organization.newType("other", `{}`)
	organization.newType("better", `{`+extendsUniversal+`}`)
	organization.newType("best", `{"extend":{"with":[{"name":"better"}]}}`)
	organization.workspace("", "best")
	organization.workspace("root", "team")
	_, err := organization.tryWorkspace("", "other")
	refused(t, err, 403, "root:organization only allows children of the types [root:universal]", "implements ["+organization.path+":other]")
}

func none(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("orphan", `{"limitAllowedParents":{"none":true}}`)
	w.newType("childless", `{`+extendsUniversal+`,"limitAllowedChildren":{"none":true}}`)
	w.newType("vague", `{`+extendsUniversal+`,"limitAllowedChildren":{"none":false}}`)
	_, err := w.tryWorkspace("", "orphan")
	refused(t, err, 403, ":orphan allows no parents, not root:universal either")
	childless := w.below(s, w.workspace("", "childless"))
	_, err = childless.tryWorkspace("", "")
	refused(t, err, 403, ":childless allows no children, not root:universal either")
	vague := w.below(s, w.workspace("", "vague"))
	_, err = vague.tryWorkspace("", "")
	refused(t, err, 403, ":vague limits its children and names none that it allows")
}

func builtIn(t *testing.T, s *suite) {
	root := s.root(t)
	organization := root.below(s, root.workspace("root", "organization"))
	team := organization.below(s, organization.workspace("root", "team"))
	team.workspace("root", "team")
	_, err := team.tryWorkspace("root", "organization")
	refused(t, err, 403, "root:organization only allows parents of the types [root:root]")
	_, err = root.tryWorkspace("root", "team")
	refused(t, err, 403, "root:team only allows parents of the types [root:organization root:team]")
	for _, parent := range []workspace{root, organization, team} {
		for _, name := range []string{"home", "root"} {
			_, err = parent.tryWorkspace("root", name)
			refused(t, err, 403, "root:"+name+" allows no parents")
		}
	}
}

func atUse(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("open", `{`+extendsUniversal+`}`)
	parent := w.below(s, w.workspace("", "open"))
	first := parent.workspace("root", "universal")
	w.patch(types, "open", `{"spec":{"limitAllowedChildren":{"none":true}}}`)
	_, err := parent.tryWorkspace("root", "universal")
	refused(t, err, 403, w.path+":open allows no children")
	parent.ready(first.Name)
	w.patch(types, "open", `{"spec":{"limitAllowedChildren":null}}`)
	allowed(t, "the limit is lifted", func() error { _, err := parent.tryWorkspace("root", "universal"); return err })
}

func clusterName(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("parent", `{`+extendsUniversal+`}`)
	w.newType("child", `{"limitAllowedParents":`+only(w.cluster, "parent")+`}`)
	parent := w.below(s, w.workspace("", "parent"))
	_, err := parent.tryWorkspace(w.path, "child")
	refused(t, err, 403, w.path+":child only allows parents of the types ["+w.cluster+":parent]")
}
