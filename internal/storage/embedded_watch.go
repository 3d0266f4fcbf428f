package storage

import (
	"context"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// queuedWatches are watches whose requests never make their sender wait, so that any number
// may end at the same time.
//
// All watches of a client share a stream. Upstream's, between a client and a server in one
// process, has hardly any room: the client does not listen while it says that a watch has
// ended, and the server confirms the end of each. When twenty end together both wait for
// the other to listen, for ever, and no watch hears of anything any more. Here what the
// client says waits in a queue instead.
type queuedWatches struct{ pb.WatchClient }

// Watch implements pb.WatchClient.
func (w queuedWatches) Watch(ctx context.Context, opts ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	stream, err := w.WatchClient.Watch(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return &queuedStream{Watch_WatchClient: stream}, nil
}

// queuedStream passes requests on in order, in a goroutine that is there for as long as
// some are waiting.
type queuedStream struct {
	pb.Watch_WatchClient

	mu      sync.Mutex
	waiting []*pb.WatchRequest
	sending bool
	err     error
}

// Send puts a request into the queue. Its error is that of an earlier one.
func (s *queuedStream) Send(request *pb.WatchRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.waiting = append(s.waiting, request)
	if !s.sending {
		s.sending = true
		go s.send()
	}
	return nil
}

func (s *queuedStream) send() {
	for {
		request := s.next()
		if request == nil {
			return
		}
		if err := s.Watch_WatchClient.Send(request); err != nil {
			s.fail(err)
			return
		}
	}
}

// next takes the first request from the queue; nil if there is none, which ends sending.
func (s *queuedStream) next() *pb.WatchRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting, s.sending = nil, false
		return nil
	}
	request := s.waiting[0]
	s.waiting = s.waiting[1:]
	return request
}

// fail notes that the stream has ended.
func (s *queuedStream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.sending, s.err = nil, false, err
}
