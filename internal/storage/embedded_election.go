package storage

import (
	"context"
	"time"

	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/raft/v3/raftpb"
)

// electionPoll is how often a member is told to become the leader until it is.
const electionPoll = time.Millisecond

// elect makes the only member of an etcd its leader at once, until ctx ends. By itself it
// would wait first for others to be heard of, for up to the election timeout, which is
// most of the time that etcd takes to start.
//
// It does so with the message by which a leader hands over to another member. A member
// that has not read its own configuration yet, or is the leader, does not heed it.
//
// It is for an etcd without a log. One that has to read its log first forgets the parts of
// it that it is done with, and gives up if an election looks for them meanwhile.
func elect(ctx context.Context, server *etcdserver.EtcdServer) {
	ticker := time.NewTicker(electionPoll)
	defer ticker.Stop()
	member := uint64(server.MemberID())
	for server.Lead() == 0 {
		// If it is not heeded the election takes its usual course.
		_ = server.Process(ctx, raftpb.Message{Type: raftpb.MsgTimeoutNow, To: member, From: member})
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
