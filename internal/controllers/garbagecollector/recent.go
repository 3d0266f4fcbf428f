package garbagecollector

// mostRecent is how many objects that have just gone are remembered.
const mostRecent = 1024

// recent remembers the custom resources that went last. When a definition is deleted it
// goes with its instances, and the graph may hear of that before it hears of dependents
// that were created before: nobody could tell any more that their owners existed.
type recent struct {
	places map[nodeKey]place
	// order are the keys in a ring, next is where the oldest is.
	order []nodeKey
	next  int
}

func (r *recent) add(key nodeKey, at place) {
	if at.kind == (place{}).kind {
		return // built-in kinds do not go
	}
	if r.places == nil {
		r.places = make(map[nodeKey]place, mostRecent)
	}
	if _, known := r.places[key]; known {
		return
	}
	r.places[key] = at
	if len(r.order) < mostRecent {
		r.order = append(r.order, key)
		return
	}
	delete(r.places, r.order[r.next])
	r.order[r.next] = key
	r.next = (r.next + 1) % mostRecent
}
