package home_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/forkless/kcp/internal/tenancy/home"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestCluster holds the fixed points that others know: tenancy.md, row 53.
func TestCluster(t *testing.T) {
	for username, want := range map[string]string{
		"alice":            "v1u4alow0iv9",
		"bob":              "2okdry95y5lkv",
		"user-with-dash":   "1e25681jymk1l",
		"user:with:colons": "2bqfj6xlthg3t",
		"user172":          "0f9mt7goyif7",
		"":                 "36ks9xj4a2n61",
	} {
		if got := home.Cluster(username); got.String() != want {
			t.Errorf("the home of %q is %s, not %s", username, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	for name, tc := range map[string]struct{ reason, username, want string }{
		"Plain":     {"the name is a segment", "alice", "user:alice"},
		"Dash":      {"so is one with a dash", "user-with-dash", "user:user-with-dash"},
		"Letter":    {"and one of a single letter", "a", "user:a"},
		"Longest":   {"and one as long as segments are", strings.Repeat("a", 63), "user:" + strings.Repeat("a", 63)},
		"TooLong":   {"a longer one is none", strings.Repeat("a", 64), home.Cluster(strings.Repeat("a", 64)).String()},
		"Colons":    {"user:user:with:colons is below the home of user", "user:with:colons", "2bqfj6xlthg3t"},
		"Mail":      {"signs are not in paths", "alice@example.com", home.Cluster("alice@example.com").String()},
		"UpperCase": {"Alice and alice are two users", "Alice", home.Cluster("Alice").String()},
		"System":    {"as with colons", "system:admin", home.Cluster("system:admin").String()},
		"Wildcard":  {"it is no name", "*", home.Cluster("*").String()},
		"Slashes":   {"nor are steps in a path", "../root", home.Cluster("../root").String()},
		"Unicode":   {"nor are other letters", "ålice", home.Cluster("ålice").String()},
		"Empty":     {"nor nothing", "", "36ks9xj4a2n61"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := home.Path(tc.username); got.String() != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	for path, want := range map[string]struct {
		cluster string
		rest    []string
	}{
		"user:alice":     {"v1u4alow0iv9", nil},
		"user:alice:a:b": {"v1u4alow0iv9", []string{"a", "b"}},
		"user":           {},
		"users:alice":    {},
		"root:user":      {},
		"v1u4alow0iv9:a": {},
	} {
		cluster, rest, ok := home.Find(logicalcluster.MustParsePath(path).Segments())
		if ok != (want.cluster != "") || cluster.String() != want.cluster || strings.Join(rest, ":") != strings.Join(want.rest, ":") {
			t.Errorf("%s: got %s, %v, %v", path, cluster, rest, ok)
		}
	}
}

func TestCheckUser(t *testing.T) {
	for username, ok := range map[string]bool{
		"alice": true, "a\tb": true, "пользователь": true, "\U0001f600": true, "": false, "a\xff": false, "\xc3": false,
	} {
		if err := home.CheckUser(username); (err == nil) != ok {
			t.Errorf("%q: %v", username, err)
		}
	}
}

// FuzzPath holds that every user's path leads to his own home, and nobody else's.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"alice", "user:with:colons", "Alice", "a:b", "-", "..", "", "system:admin", "*", "alice\n", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, username string) {
		path := home.Path(username)
		parsed, err := logicalcluster.ParsePath(path.String())
		if err != nil || parsed != path {
			t.Fatalf("the path %q of %q is none: %v", path, username, err)
		}
		cluster, rest, ok := home.Find(path.Segments())
		if !ok {
			cluster, ok = path.Name()
		}
		if !ok || len(rest) > 0 || cluster != home.Cluster(username) {
			t.Fatalf("the path %q of %q leads to %s, %v", path, username, cluster, rest)
		}
		if second, ok := strings.CutPrefix(path.String(), home.Root+":"); ok && second != username {
			t.Fatalf("the path %q of %q is that of %q", path, username, second)
		}
	})
}

var twoByTwo = home.Buckets{Root: logicalcluster.MustParsePath("root:users"), Levels: 2, Size: 2}

func TestBuckets(t *testing.T) {
	long := strings.Repeat("a", 63)
	for name, tc := range map[string]struct {
		reason, username, want, refused string
	}{
		"Adam":         {reason: "a fixed point", username: "adam", want: "root:users:sj:pq:adam"},
		"Alice":        {reason: "a fixed point", username: "alice", want: "root:users:ss:xx:alice"},
		"Bob":          {reason: "a fixed point", username: "bob", want: "root:users:lh:sc:bob"},
		"Mail":         {reason: "what may not be in names becomes a dash", username: "a.b@example.com", want: ":a-b-example-com"},
		"UpperCase":    {reason: "capitals as well", username: "aLiCe", want: ":a-i-e"},
		"Colons":       {reason: "and separators", username: "user:with:colons", want: ":user-with-colons"},
		"Digits":       {reason: "names begin with a letter", username: "007-bond", want: ":bond"},
		"DigitsAtEnd":  {reason: "and may end with a digit", username: "bond007", want: ":bond007"},
		"Dashes":       {reason: "but not with a dash", username: "--a--", want: ":a"},
		"Unicode":      {reason: "a letter is one character, whatever its bytes", username: "jürgen", want: ":j-rgen"},
		"Longest":      {reason: "as long as names of workspaces", username: long, want: ":" + long},
		"TooLong":      {reason: "a longer one is not cut: it would be somebody else's", username: long + "a", refused: "64 characters"},
		"OnlyDigits":   {reason: "there is no letter", username: "123", refused: `"123" has no letter`},
		"OnlyCapitals": {reason: "nor here", username: "BOB", refused: `"BOB" has no letter`},
		"OtherScript":  {reason: "nor here", username: "пользователь", refused: "has no letter"},
		"Empty":        {reason: "there is nothing", username: "", refused: "without a name"},
		"BadUTF8":      {reason: "there are no characters", username: "a\xff", refused: "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := twoByTwo.Path(tc.username)
			switch {
			case tc.refused != "":
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s: got %s, %v", tc.reason, got, err)
				}
			case err != nil || !strings.HasSuffix(got.String(), tc.want):
				t.Errorf("%s: got %s, %v, want %s", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	for path, want := range map[string]bool{
		"root:users": false, "root:users:sj": true, "root:users:sj:pq": true, "root:users:sj:pq:adam": true,
		"root:users:sj:pq:adam:deep": false, "root:usersx:sj": false, "root:other:sj": false, "root": false, "system:admin": false,
	} {
		if got := twoByTwo.Holds(logicalcluster.MustParsePath(path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

func TestLeads(t *testing.T) {
	adam := logicalcluster.MustParsePath("root:users:sj:pq:adam")
	for path, want := range map[string]bool{
		"root:users:sj": true, "root:users:sj:pq": true, "root:users:sj:pq:adam": true,
		"root:users:s": false, "root:users:sj:pq:ada": false, "root:users:sj:pq:adam:x": false, "root:users:sj:pp": false,
	} {
		if got := home.Leads(logicalcluster.MustParsePath(path), adam); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// TestValidity is the table of the documents that describe the layout.
func TestValidity(t *testing.T) {
	for _, tc := range []struct {
		size, levels int
		valid        bool
	}{
		{1, 3, true}, {1, 4, true}, {2, 2, true},
		{1, 1, false}, {1, 2, false}, {2, 1, false}, {2, 3, false}, {3, 1, false}, {3, 2, false},
		// What the table leaves out.
		{1, 5, false}, {2, 4, false}, {2, 5, false}, {4, 1, false}, {4, 5, false},
	} {
		b := home.Buckets{Root: twoByTwo.Root, Levels: tc.levels, Size: tc.size}
		if errs := b.Validate(); len(errs) > 0 {
			t.Errorf("size %d, levels %d: within bounds, and yet %v", tc.size, tc.levels, errs)
		}
		if err := b.CheckBalance(); (err == nil) != tc.valid {
			t.Errorf("size %d, levels %d: %v", tc.size, tc.levels, err)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, root string
		levels, size int
		want         string
	}{
		"NoLevels":     {"there is a bucket above each home", "root:users", 0, 2, "levels"},
		"TooManyLevel": {"the digest has no more", "root:users", 6, 2, "levels"},
		"NoSize":       {"names are not empty", "root:users", 2, 0, "letters"},
		"TooLarge":     {"a number has no more letters that differ", "root:users", 2, 5, "letters"},
		"Deep":         {"homes are below a child of root", "root:org:users", 2, 2, "child of root"},
		"Root":         {"and not in root itself", "root", 2, 2, "child of root"},
		"Elsewhere":    {"nor outside of it", "tenants:users", 2, 2, "child of root"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := home.Buckets{Root: logicalcluster.MustParsePath(tc.root), Levels: tc.levels, Size: tc.size}.Validate()
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), tc.want) {
				t.Errorf("%s: got %v", tc.reason, errs)
			}
		})
	}
}

// FuzzBuckets holds that whatever name has a home has it at a path that is one, where homes
// are, on all balanced layouts.
func FuzzBuckets(f *testing.F) {
	for _, seed := range []string{"adam", "a.b", "BOB", "--", "9a9", "\xff", "é", "a:b", strings.Repeat("x", 70)} {
		f.Add(seed, 2, 2)
	}
	f.Fuzz(func(t *testing.T, username string, levels, size int) {
		b := home.Buckets{Root: twoByTwo.Root, Levels: levels, Size: size}
		if len(b.Validate()) > 0 {
			return
		}
		path, err := b.Path(username)
		if err != nil {
			return
		}
		if !utf8.ValidString(username) {
			t.Fatalf("%q is no name, and has a home", username)
		}
		if _, err := logicalcluster.ParsePath(path.String()); err != nil {
			t.Fatalf("%q: %v", username, err)
		}
		if !b.Holds(path) || len(path.Segments()) != levels+3 || b.Holds(path.Join("x")) {
			t.Fatalf("%q: %s is not where homes are", username, path)
		}
		if again, err := b.Path(username); err != nil || again != path {
			t.Fatalf("%q: %s, and then %s, %v", username, path, again, err)
		}
	})
}
