package ephemeral

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/self"
	"github.com/forkless/kcp/pkg/cli/run"
)

// Verb is the name of the verb.
const Verb = "run"

// report is what the process that stays tells the one that returns: one of these, once.
type report struct {
	// Environment leads to the control plane.
	Environment environment `json:"environment,omitempty"`
	// Error says why there is none.
	Error string   `json:"error,omitempty"`
	Hints []string `json:"hints,omitempty"`
	Code  int      `json:"code,omitempty"`
}

// leave starts the process that stays, and prints what leads there when it is ready.
func (o *Options) leave(ctx context.Context, in *input) error {
	answer, err := o.start(ctx, in)
	if err != nil {
		return err
	}
	if answer.Error != "" {
		return run.Code(answer.Code, run.Hint(errors.New(answer.Error), answer.Hints...))
	}
	id := answer.Environment.get("KCP_RUN_ID")
	end := "kcp stop " + id + " ends it"
	if o.TTL > 0 {
		end += fmt.Sprintf(", or it ends by itself after %s", span(o.TTL))
	}
	o.voice().say("ready in %.2fs at %s; %s", o.now().Sub(o.began).Seconds(), answer.Environment.get("KCP_URL"), end)
	return answer.Environment.print(o.streams.Out, o.Print)
}

// start starts the process that stays and returns its report.
func (o *Options) start(ctx context.Context, in *input) (*report, error) {
	cmd, err := self.Command(o.staying()...)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(in.stdin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// A signal ends both; what the other has made is then for its watcher.
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	answer := &report{}
	err = json.NewDecoder(out).Decode(answer)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, io.EOF):
		return nil, errors.New("the server has ended before it was ready, and did not say why")
	case err != nil:
		return nil, fmt.Errorf("reading what the server reports: %w", err)
	}
	return answer, nil
}

// staying returns the arguments of the process that stays.
func (o *Options) staying() []string {
	args := []string{Verb, "--detached", "--in=" + o.In, "--keep=" + o.Keep, "--artifacts=" + o.Artifacts,
		"--start-timeout=" + o.StartTimeout.String(), "--ttl=" + o.TTL.String()}
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				args = append(args, "--"+flag+"="+value)
			}
		}
	}
	add("type", o.Type)
	add("apply", o.Apply...)
	add("bind", o.Bind...)
	add("user", o.Users...)
	add("snapshot", o.Snapshot)
	add("save", o.Save)
	add("kcp-arg", o.ServerArgs...)
	return args
}

// stay reports that everything is ready, and serves until it is told to stop or its time is
// over.
func (o *Options) stay(ctx context.Context, p *plane) ending {
	// Nobody reads what this process says from now on. Should it crash, the log tells.
	_ = debug.SetCrashOutput(p.log.file, debug.CrashOptions{})
	if err := o.report(report{Environment: environmentOf(p)}); err != nil {
		return ending{failed: true, err: err}
	}
	return o.serve(ctx, p, "stays", o.TTL)
}

// report tells the process that waits for it, and no more.
func (o *Options) report(r report) error {
	if err := json.NewEncoder(o.streams.Out).Encode(r); err != nil {
		return err
	}
	if file, ok := o.streams.Out.(*os.File); ok {
		return file.Close()
	}
	return nil
}

// reportError tells the process that waits why there is nothing to wait for.
func (o *Options) reportError(err error) {
	// If nobody waits any more, nobody has to know.
	_ = o.report(report{Error: run.Message(err), Hints: run.Hints(err), Code: run.CodeOf(err)})
}
