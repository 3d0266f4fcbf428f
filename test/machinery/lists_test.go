package machinery

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	many    = 57
	perPage = 10
)

func (w *workspace) fill(k kind) {
	w.t.Helper()
	for i := range many {
		w.must(http.StatusCreated, "POST", k.url, k.body(fmt.Sprintf("item-%03d", i), "x"))
	}
}

// pages reads all pages from a first query on and returns how many objects there were. All
// must be of one resource version, in order and count what remains.
func (w *workspace) pages(k kind, query string, from int) int {
	w.t.Helper()
	found, version, next := from, "", query
	for next != "" {
		page := w.must(http.StatusOK, "GET", k.url+next, "")
		if version == "" {
			version = page.field("metadata.resourceVersion")
		}
		if got := page.field("metadata.resourceVersion"); got != version {
			w.t.Errorf("a page is of version %s, the first was of %s", got, version)
		}
		items, token := page.items(), page.field("metadata.continue")
		if len(items) > perPage {
			w.t.Errorf("a page has %d objects", len(items))
		}
		for _, item := range items {
			if want := fmt.Sprintf("item-%03d", found); item.GetName() != want || field(&item, "metadata.annotations") != "map[kcp.io/cluster:"+w.cluster+"]" {
				w.t.Fatalf("object %d is %s of %s, want %s", found, item.GetName(), item.GetAnnotations(), want)
			}
			found++
		}
		remaining := page.field("metadata.remainingItemCount")
		next = ""
		if token != "<nil>" && token != "" {
			next = "?limit=" + strconv.Itoa(perPage) + "&continue=" + url.QueryEscape(token)
			if want := strconv.Itoa(many - found); remaining != want {
				w.t.Errorf("after %d objects %s remain, want %s", found, remaining, want)
			}
		} else if remaining != "<nil>" {
			w.t.Errorf("on the last page %s remain", remaining)
		}
	}
	return found
}

// TestChunks: lists come in pages of one moment, whatever is written in between.
func TestChunks(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		w.fill(k)
		limit := "?limit=" + strconv.Itoa(perPage)
		if got := w.pages(k, limit, 0); got != many {
			t.Errorf("the pages have %d objects, want %d", got, many)
		}
		if got := len(w.must(http.StatusOK, "GET", k.url+"?limit=1000", "").items()); got != many {
			t.Errorf("one large page has %d objects, want %d", got, many)
		}
		first := w.must(http.StatusOK, "GET", k.url+limit, "")
		next := limit + "&continue=" + url.QueryEscape(first.field("metadata.continue"))
		w.must(http.StatusOK, "DELETE", k.url+"/item-012", "")
		w.must(http.StatusCreated, "POST", k.url, k.body("item-012-and-a-half", "x"))
		// The token says what moment the list is of.
		if got := w.pages(k, next, perPage); got != many {
			t.Errorf("with changes in between the pages have %d objects, want %d", got, many)
		}
		if got := w.must(http.StatusOK, "GET", k.url+"?resourceVersionMatch=Exact&resourceVersion="+first.field("metadata.resourceVersion"), ""); len(got.items()) != many || strings.Contains(got.body, "half") {
			t.Errorf("the list of an exact version has %d objects", len(got.items()))
		}
		table := w.must(http.StatusOK, "GET", k.url+limit, "", accept("application/json;as=Table;v=v1;g=meta.k8s.io"))
		if rows := maps(table, "rows"); len(rows) != perPage || table.field("metadata.continue") == "<nil>" || table.field("metadata.remainingItemCount") != strconv.Itoa(many-perPage) {
			t.Errorf("a page of a table has %d rows, metadata %s", len(rows), table.field("metadata"))
		}
		selected := w.must(http.StatusOK, "GET", k.url+limit+"&labelSelector=value%3Dx", "")
		if selected.field("metadata.remainingItemCount") != "<nil>" || selected.field("metadata.continue") == "<nil>" {
			t.Errorf("with a selector it is not known how many remain, got %s", selected.field("metadata"))
		}
	})
}

// TestResourceVersions: which version lists are of.
func TestResourceVersions(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		w.must(http.StatusCreated, "POST", k.url, k.body("a", "1"))
		first := w.must(http.StatusOK, "GET", k.url, "")
		old := first.field("metadata.resourceVersion")
		w.must(http.StatusCreated, "POST", k.url, k.body("b", "1"))
		latest := w.must(http.StatusOK, "GET", k.url, "")
		if latest.names() != "a b" {
			t.Errorf("after a write a list has %q: lists are consistent", latest.names())
		}
		const never = "9000000000000000000"
		for query, want := range map[string]string{
			"?resourceVersionMatch=Exact&resourceVersion=" + old:                                             "a",
			"?resourceVersionMatch=NotOlderThan&resourceVersion=" + latest.field("metadata.resourceVersion"): "a b",
			"?resourceVersionMatch=NotOlderThan&resourceVersion=0":                                           "a b",
			"?resourceVersion=" + old: "a b",
			"?resourceVersion=0":      "a b",
			"?resourceVersion=" + old + "&resourceVersionMatch=Exact&limit=5":  "a",
			"?fieldSelector=metadata.name%3Db":                                 "b",
			"?fieldSelector=metadata.name!%3Db%2Cmetadata.namespace%3Ddefault": "a",
			"?fieldSelector=metadata.namespace%3Dother":                        "",
		} {
			got := w.must(http.StatusOK, "GET", k.url+query, "")
			if got.names() != want {
				t.Errorf("%s lists %q, want %q", query, got.names(), want)
			}
			if strings.Contains(query, "Exact") && got.field("metadata.resourceVersion") != old {
				t.Errorf("%s is of version %s", query, got.field("metadata.resourceVersion"))
			}
		}
		w.refused(http.StatusUnprocessableEntity, "Invalid", "resourceVersionMatch is forbidden unless resourceVersion is provided", "GET", k.url+"?resourceVersionMatch=Exact", "")
		w.refused(http.StatusUnprocessableEntity, "Invalid", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`, "GET", k.url+"?resourceVersionMatch=Exact&resourceVersion=0", "")
		w.refused(http.StatusBadRequest, "BadRequest", "nvalid", "GET", k.url+"?resourceVersion=x", "")
		w.refused(http.StatusGatewayTimeout, "Timeout", "Too large resource version", "GET", k.url+"?resourceVersion="+never, "")
		if got := w.do("GET", k.url+"/a?resourceVersion="+never, ""); got.code != http.StatusGatewayTimeout {
			t.Errorf("get of a version to come: %s", got)
		}
	})
}

// TestExpiredTokens: what is too old is said to be, with a token to go on from where the
// list was. The server is started anew, so that its watch caches have no memory either.
func TestExpiredTokens(t *testing.T) {
	etcd, root := servertest.StartEtcd(t), t.TempDir()
	server := servertest.StartIn(t, root, "--etcd-servers="+etcd.Server)
	w := newWorkspace(t, server)
	w.define(widgets("v1", "{strategy: None}"))
	limit := "?limit=" + strconv.Itoa(perPage)
	first := map[string]answer{}
	kinds := []kind{leases, widgetKind}
	for _, k := range kinds {
		w.must(http.StatusOK, "DELETE", k.url, "")
		w.fill(k)
		first[k.name] = w.must(http.StatusOK, "GET", k.url+limit, "")
	}
	w.must(http.StatusCreated, "POST", leases.url, leases.body("zzz", "x"))
	w.must(http.StatusOK, "DELETE", leases.url+"/zzz", "")
	server.Stop()
	etcd.Compact(t)
	server = servertest.StartIn(t, root, "--etcd-servers="+etcd.Server)
	w = connect(t, server, w.cluster)
	for _, k := range kinds {
		old := first[k.name].field("metadata.resourceVersion")
		next := k.url + limit + "&continue=" + url.QueryEscape(first[k.name].field("metadata.continue"))
		expired := w.refused(http.StatusGone, "Expired", "The provided continue parameter is too old", "GET", next, "")
		token := expired.field("metadata.continue")
		if token == "<nil>" || token == "" {
			t.Fatalf("%s: there is no token to go on with: %s", k.name, expired)
		}
		if got := w.pages(k, limit+"&continue="+url.QueryEscape(token), perPage); got != many {
			t.Errorf("%s: the pages have %d objects, want %d", k.name, got, many)
		}
		w.refused(http.StatusGone, "Expired", "too old", "GET", k.url+"?resourceVersionMatch=Exact&resourceVersion="+old, "")
		gone := w.do("GET", k.url+"?watch=true&resourceVersion="+old, "")
		if gone.code == http.StatusOK {
			if !strings.Contains(gone.body, `"type":"ERROR"`) || !strings.Contains(gone.body, `"reason":"Expired"`) || !strings.Contains(gone.body, `"code":410`) {
				t.Errorf("%s: watch from an old version: %s", k.name, gone)
			}
		} else if gone.code != http.StatusGone {
			t.Errorf("%s: watch from an old version: %s", k.name, gone)
		}
	}
}
