package view

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

func TestQueue(t *testing.T) {
	const events = maxConverted*2 + 1
	stored, waiting := watch.NewFakeWithChanSize(events, false), newQueue()
	for range events {
		stored.Add(stored1)
	}
	stored.Stop()
	waiting.fill(stored)
	for _, want := range []int{maxConverted, maxConverted, 1, 0} {
		if got := len(waiting.take(nil)); got != want {
			t.Errorf("took %d events, want %d: all there are, but not more than are converted together", got, want)
		}
	}
}

func TestQueueEndsWhenItIsFull(t *testing.T) {
	stored, waiting := watch.NewFakeWithChanSize(maxWaiting*2, false), newQueue()
	for range maxWaiting + 1 {
		stored.Add(stored1)
	}
	waiting.fill(stored)
	if !stored.IsStopped() {
		t.Error("a watch that is too far behind goes on")
	}
	taken := 0
	for got := waiting.take(nil); len(got) > 0; got = waiting.take(nil) {
		taken += len(got)
	}
	if taken != maxWaiting {
		t.Errorf("took %d events, want all %d that came before it was full", taken, maxWaiting)
	}
}

func TestQueueIsLeft(t *testing.T) {
	done, left := make(chan struct{}), make(chan struct{})
	go func() {
		newQueue().take(done)
		close(left)
	}()
	close(done)
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Fatal("who stops a watch still waits for events")
	}
}

var stored1 = stored("v1", nil)
