package controller

import "sync"

// patientShare is how many keys are taken at most before a patient one is: so that the
// patient come to their turn as well.
const patientShare = 4

// lanes is the order in which a queue hands out keys. Those that a patient source has
// named wait for the others: a change that concerns ten thousand keys does not hold up
// the one key of somebody else. But for patient, its methods are called under the lock of
// the queue.
type lanes struct {
	first, second []Key
	// queued says of each key that waits whether it is patient. A key that has stopped
	// to be is in both lanes, and handed out once.
	queued map[Key]bool
	// taken is how many keys have been handed out since the last patient one.
	taken int

	mu sync.Mutex
	// marked are the keys that are about to be added by a patient source.
	marked map[Key]struct{}
}

func newLanes() *lanes { return &lanes{queued: map[Key]bool{}, marked: map[Key]struct{}{}} }

// mark says whether a key is patient that is added next. If somebody else adds it before,
// or before it is put into a lane, it is not.
func (l *lanes) mark(key Key, patient bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if patient {
		l.marked[key] = struct{}{}
	} else {
		delete(l.marked, key)
	}
}

func (l *lanes) unmark(key Key) (patient bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, patient = l.marked[key]
	delete(l.marked, key)
	return patient
}

// Touch is called when a key is added that waits already.
func (l *lanes) Touch(key Key) {
	if !l.unmark(key) && l.queued[key] {
		l.queued[key] = false
		l.first = append(l.first, key)
	}
}

// Push adds a key.
func (l *lanes) Push(key Key) {
	patient := l.unmark(key)
	l.queued[key] = patient
	if patient {
		l.second = append(l.second, key)
	} else {
		l.first = append(l.first, key)
	}
}

// Len returns how many keys wait.
func (l *lanes) Len() int { return len(l.queued) }

// Pop hands out a key. There is one.
func (l *lanes) Pop() Key {
	l.first, l.second = l.trim(l.first, false), l.trim(l.second, true)
	patient := len(l.first) == 0 || len(l.second) > 0 && l.taken >= patientShare
	lane := &l.first
	if patient {
		lane, l.taken = &l.second, 0
	} else {
		l.taken++
	}
	key := (*lane)[0]
	*lane = (*lane)[1:]
	delete(l.queued, key)
	return key
}

// trim removes from the head of a lane what waits in it no longer.
func (l *lanes) trim(lane []Key, patient bool) []Key {
	for len(lane) > 0 {
		if in, waits := l.queued[lane[0]]; waits && in == patient {
			return lane
		}
		lane = lane[1:]
	}
	return nil
}
