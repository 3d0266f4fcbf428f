package path

import (
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestResolve(t *testing.T) {
	const (
		userHome = "/home/me"
		invalid  = "invalid workspace path: "
	)
	cases := map[string]struct {
		reason string
		arg    string
		home   string // of the user, userHome if empty
		base   string // what the server or the kubeconfig says, for the kind
		kind   Kind
		legacy bool
		want   string
		err    string
	}{
		"Nothing":            {reason: "without an argument one goes home", arg: "", base: "1abc", kind: Home, want: "1abc"},
		"Home":               {reason: "~ is home", arg: "~", base: "1abc", kind: Home, want: "1abc"},
		"BelowHome":          {reason: "colons go below home", arg: "~:a:b", base: "1abc", kind: Home, want: "1abc:a:b"},
		"BelowHomeSlashes":   {reason: "so do slashes", arg: "~/a/b", base: "1abc", kind: Home, want: "1abc:a:b"},
		"ShellHome":          {reason: "a shell has made ~ a directory", arg: "/home/me", base: "1abc", kind: Home, want: "1abc"},
		"BelowShellHome":     {reason: "a shell has made ~/a/b a file name", arg: "/home/me/a/b", base: "1abc", kind: Home, want: "1abc:a:b"},
		"HomeOfNamesake":     {reason: "/home/me2 only begins like the home directory", arg: "/home/me2", kind: Absolute, want: "home:me2"},
		"RootAsHome":         {reason: "a home directory of / would make everything home", arg: "/a", home: "/", kind: Absolute, want: "a"},
		"AboveHome":          {reason: "there is nothing above an identifier", arg: "~/..", base: "1abc", kind: Home, err: invalid + "~/..: what is above 1abc is not known"},
		"HomeDots":           {reason: "dots are resolved below home as anywhere", arg: "~/a/../b/.", base: "1abc", kind: Home, want: "1abc:b"},
		"InvalidBelowHome":   {reason: "the home need not be asked for to see that this is wrong", arg: "~:A", kind: Home, err: invalid + "~:A"},
		"OthersHome":         {reason: "only one's own home can be named", arg: "~bob", err: `"~bob" would be the home workspace of somebody else, only your own can be named: ~`},
		"Current":            {reason: ". stays", arg: ".", base: "root:a", kind: Current, want: "root:a"},
		"Previous":           {reason: "- goes back", arg: "-", base: "root:a", kind: Previous, want: "root:a"},
		"Top":                {reason: ": goes to the first segment", arg: ":", base: "root:a:b", kind: Top, want: "root"},
		"TopSlash":           {reason: "/ is read as :", arg: "/", base: "root:a:b", kind: Top, want: "root"},
		"TopElsewhere":       {reason: "the top need not be root", arg: ":", base: "orgs:a", kind: Top, want: "orgs"},
		"TopOfIdentifier":    {reason: "an identifier is its own top", arg: ":", base: "2kb1y3r0q9x8w7v6", kind: Top, want: "2kb1y3r0q9x8w7v6"},
		"TopOfSystem":        {reason: "a system cluster is its own top", arg: ":", base: "system:admin", kind: Top, want: "system:admin"},
		"Absolute":           {reason: "a colon in front is absolute", arg: ":a:b", base: "root:x", kind: Absolute, want: "a:b"},
		"AbsoluteSlashes":    {reason: "slashes are colons", arg: "/a/b", base: "root:x", kind: Absolute, want: "a:b"},
		"AbsoluteMixed":      {reason: "every slash is a colon", arg: ":a/b", kind: Absolute, want: "a:b"},
		"AbsoluteDots":       {reason: "dots are resolved", arg: ":root:a:..:b", kind: Absolute, want: "root:b"},
		"AbsoluteAbove":      {reason: "there is nothing above the top", arg: ":root:..", kind: Absolute, err: invalid + ":root:..: nothing is above root"},
		"Wildcard":           {reason: "all clusters have a path of their own", arg: ":*", kind: Absolute, want: "*"},
		"System":             {reason: "system clusters are absolute paths", arg: ":system:admin", kind: Absolute, want: "system:admin"},
		"SystemParent":       {reason: "a system cluster has no parent, so .. stays", arg: "..", base: "system:admin", kind: Relative, want: "system:admin"},
		"SystemParents":      {reason: "however often it is said", arg: "../../..", base: "system:admin", kind: Relative, want: "system:admin"},
		"Child":              {reason: "a name is relative", arg: "a", base: "root", kind: Relative, want: "root:a"},
		"Grandchild":         {reason: "so is a path", arg: "a:b", base: "root:x", kind: Relative, want: "root:x:a:b"},
		"DotChild":           {reason: "./ makes a command's name a workspace's", arg: "./tree", base: "root", kind: Relative, want: "root:tree"},
		"Parent":             {reason: ".. takes a segment off", arg: "..", base: "root:a:b", kind: Relative, want: "root:a"},
		"Grandparent":        {reason: "twice", arg: "../..", base: "root:a:b", kind: Relative, want: "root"},
		"Sibling":            {reason: "and then adds one", arg: "..:c", base: "root:a:b", kind: Relative, want: "root:a:c"},
		"InnerDots":          {reason: "dots may be anywhere", arg: "a:..:b", base: "root", kind: Relative, want: "root:b"},
		"AboveTop":           {reason: "nothing is above the top", arg: "..", base: "root", kind: Relative, err: invalid + "..: nothing is above root"},
		"FarAboveTop":        {reason: "and less above that", arg: "../../..", base: "root", kind: Relative, err: invalid + "../../..: nothing is above root"},
		"AboveIdentifier":    {reason: "the parent of an identifier is not known", arg: "..", base: "2kb1y3r0q9x8w7v6", kind: Relative, err: invalid + "..: what is above 2kb1y3r0q9x8w7v6 is not known"},
		"Legacy":             {reason: "root is absolute without a colon", arg: "root", base: "root:a", kind: Absolute, legacy: true, want: "root"},
		"LegacyPath":         {reason: "and what is below it", arg: "root:a", base: "root:x", kind: Absolute, legacy: true, want: "root:a"},
		"LegacySlashes":      {reason: "with slashes, too", arg: "root/a", base: "root:x", kind: Absolute, legacy: true, want: "root:a"},
		"NotLegacy":          {reason: "a name that begins with root is a name", arg: "rootless", base: "root", kind: Relative, want: "root:rootless"},
		"UpperCase":          {reason: "names are lower case", arg: "Team", base: "root", kind: Relative, err: invalid + "Team"},
		"Empty":              {reason: "a segment has at least a character", arg: "a::b", base: "root", kind: Relative, err: invalid + "a::b"},
		"TrailingColon":      {reason: "also the last one", arg: "a:", base: "root", kind: Relative, err: invalid + "a:"},
		"Hyphen":             {reason: "a name ends with a letter or digit", arg: "a-", base: "root", kind: Relative, err: invalid + "a-"},
		"RelativeWildcard":   {reason: "the wildcard has no parent", arg: "*", base: "root", kind: Relative, err: invalid + "*"},
		"Escape":             {reason: "nothing is decoded", arg: "a%2fb", base: "root", kind: Relative, err: invalid + "a%2fb"},
		"NUL":                {reason: "control characters are no names", arg: "a\x00", base: "root", kind: Relative, err: invalid + "a\x00"},
		"PathIntoURL":        {reason: "a query would change the request", arg: ":root?x", kind: Absolute, err: invalid + ":root?x"},
		"LongSegment":        {reason: "a label has at most 63 characters", arg: ":a123456789012345678901234567890123456789012345678901234567890123", kind: Absolute, err: invalid + ":a123456789012345678901234567890123456789012345678901234567890123"},
		"UserHomeWithSlash":  {reason: "a home directory may be written with a slash at its end", arg: "/home/me/a", home: "/home/me/", base: "1abc", kind: Home, want: "1abc:a"},
		"Pin":                {reason: "@ begins the name of a pin", arg: "@prod", base: "root:a", kind: Pinned, want: "root:a"},
		"BelowPin":           {reason: "one can go on from a pin", arg: "@prod:eu", base: "root:a", kind: Pinned, want: "root:a:eu"},
		"BesidePin":          {reason: "or up", arg: "@prod/../b", base: "root:a", kind: Pinned, want: "root:b"},
		"PinWithoutName":     {reason: "@ alone is nothing", arg: "@", kind: Pinned, err: `"@" names no pin: ` + errPinName.Error()},
		"InvalidBelowPin":    {reason: "what is below a pin are names, too", arg: "@prod:A", kind: Pinned, err: invalid + "@prod:A"},
		"URL":                {reason: "what a browser or a kubeconfig has can be pasted", arg: "https://kcp:6443/clusters/root:a/api/v1", base: "root:x", kind: URL, want: "root:a"},
		"SystemURL":          {reason: "also that of a system cluster", arg: "https://kcp/clusters/system:admin", base: "root:x", kind: URL, want: "system:admin"},
		"OtherURL":           {reason: "not every URL is that of a workspace", arg: "https://kcp", kind: URL, err: `the URL "https://kcp" names no workspace: there is no /clusters/<path> in it`},
		"DotAfterTopIsStill": {reason: "a lone dot segment changes nothing", arg: ":root:.", kind: Absolute, want: "root"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			home := tc.home
			if home == "" {
				home = userHome
			}
			ref, err := Parse(tc.arg, home)
			if err == nil {
				if ref.Kind != tc.kind || ref.Legacy != tc.legacy {
					t.Errorf("%s: kind %v, legacy %v, want %v, %v", tc.reason, ref.Kind, ref.Legacy, tc.kind, tc.legacy)
				}
				var base logicalcluster.Path
				if tc.base != "" {
					base = logicalcluster.MustParsePath(tc.base)
				}
				var got logicalcluster.Path
				if got, err = ref.Resolve(base); err == nil && got.String() != tc.want {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			}
			if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// FuzzResolve holds that whatever is typed, a path that comes out is one that can be
// put into a URL and read back from it.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"", "~", ".", "-", ":", "..", "a:b", ":root:a", "../x", "root:a", "/home/me/a", "~bob", ":*", ":system:admin:..", "a\x00", "%2f", "@a:b", "https://h/clusters/root:a"} {
		f.Add(seed, "root:team")
	}
	f.Fuzz(func(t *testing.T, arg, base string) {
		from, err := logicalcluster.ParsePath(base)
		if err != nil {
			t.Skip("the base comes from a URL that has been parsed")
		}
		ref, err := Parse(arg, "/home/me")
		if err != nil {
			return
		}
		p, err := ref.Resolve(from)
		if err != nil {
			return
		}
		const server = "https://example.com:6443/base"
		gotBase, got, ok := SplitURL(JoinURL(server, p))
		if !ok || got != p || gotBase != server {
			t.Errorf("%q from %s is %s, which comes back from its URL as %s on %s (%v)", arg, base, p, got, gotBase, ok)
		}
	})
}

func TestClusterID(t *testing.T) {
	cases := map[string]struct {
		reason, arg, want string
	}{
		"Workspace":   {"the names the server makes up have 16 characters", "2kb1y3r0q9x8w7v6", "2kb1y3r0q9x8w7v6"},
		"Home":        {"homes have shorter ones", "3aymvjlwa46sq", "3aymvjlwa46sq"},
		"Below":       {"a path may begin with one", "2kb1y3r0q9x8w7v6:a", "2kb1y3r0q9x8w7v6:a"},
		"Letters":     {"a long word is a word", "internationalize", ""},
		"Short":       {"short names are made by people", "team1", ""},
		"Hyphen":      {"and so are those with hyphens", "payments-2024-eu", ""},
		"Absolute":    {"what is absolute needs no guess", ":2kb1y3r0q9x8w7v6", ""},
		"SecondPlace": {"below something it is a name", "a:2kb1y3r0q9x8w7v6", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref, err := Parse(tc.arg, "")
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := ref.ClusterID(); got.String() != tc.want || ok != (tc.want != "") {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, ok, tc.want)
			}
		})
	}
}
