package doctor

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/run"
)

const (
	// soon is when a certificate that expires is worth a word.
	soon = 14 * 24 * time.Hour
	// slow is what an answer may take before people call a command slow.
	slow = time.Second
	// skew is how many minor versions kubectl and a server may be apart.
	skew = 1
)

// oldestKubectl is the first one that asks plugins for words below "kubectl create".
var oldestKubectl = utilversion.MustParseGeneric("1.31")

// judge makes checks of facts. It makes no requests and looks at no files.
func judge(f facts) []diagnosis.Check {
	checks := []diagnosis.Check{client(f)}
	checks = append(checks, kubeconfig(f.kubeconfig, f.now)...)
	checks = append(checks, server(f)...)
	checks = append(checks, identity(f.server)...)
	for _, p := range f.programs {
		checks = append(checks, program(p))
	}
	return append(checks, kubectl(f.kubectl), completes(f.completes))
}

func check(state diagnosis.State, name, message string, next ...string) diagnosis.Check {
	return diagnosis.Check{Name: name, State: state, Message: message, Next: next}
}

func client(f facts) diagnosis.Check {
	if f.version == "" {
		return check(diagnosis.Unknown, "client", "built without a version")
	}
	return check(diagnosis.OK, "client", f.version)
}

func kubeconfig(k kubeconfigFacts, now time.Time) []diagnosis.Check {
	if k.err != nil {
		return []diagnosis.Check{check(diagnosis.Failed, "kubeconfig", run.Message(k.err), "export KUBECONFIG=.kcp/admin.kubeconfig"+diagnosis.Remark+"or the file that you were given")}
	}
	checks := []diagnosis.Check{check(diagnosis.OK, "kubeconfig", fmt.Sprintf("context %q, user %q, %s, in %s", k.context, k.user, k.server, strings.Join(k.files, ", ")))}
	checks = append(checks, expiry("user certificate", "your certificate", k.clientExpiry, now)...)
	if k.previous != nil {
		checks = append(checks, check(diagnosis.Warning, "previous", `"kubectl ws -" leads nowhere: `+run.Message(k.previous), "kubectl ws :root"+diagnosis.Remark+"any switch replaces it"))
	}
	if len(k.locks) > 0 {
		checks = append(checks, check(diagnosis.Warning, "locks", "the kubeconfig is locked, by another kubectl or by one that has crashed", "rm "+strings.Join(k.locks, " ")+diagnosis.Remark+"if no other kubectl is running"))
	}
	return checks
}

func server(f facts) []diagnosis.Check {
	s := f.server
	switch {
	case !s.asked:
		return []diagnosis.Check{check(diagnosis.Unknown, "server", "there is none to ask")}
	case s.err != nil:
		return []diagnosis.Check{check(diagnosis.Failed, "server", run.Message(s.err), "kcp start"+diagnosis.Remark+"if it is your own")}
	}
	checks := []diagnosis.Check{check(diagnosis.OK, "server", fmt.Sprintf("%s, answers in %s", s.version, s.latency.Round(time.Millisecond)))}
	if s.latency > slow {
		checks[0].State = diagnosis.Warning
	}
	if c, ok := versions(f.version, s.version); ok {
		checks = append(checks, c)
	}
	return append(checks, expiry("certificate", "the server's certificate", s.expiry, f.now)...)
}

// versions compares the Kubernetes that both sides are made of.
func versions(client, server string) (diagnosis.Check, bool) {
	ours, err := utilversion.ParseGeneric(client)
	if err != nil {
		return diagnosis.Check{}, false
	}
	theirs, err := utilversion.ParseGeneric(server)
	if err != nil {
		return check(diagnosis.Unknown, "versions", fmt.Sprintf("%q is no version", server)), true
	}
	apart := int(ours.Minor()) - int(theirs.Minor())
	if ours.Major() == theirs.Major() && -skew <= apart && apart <= skew {
		return check(diagnosis.OK, "versions", "client and server go together"), true
	}
	return check(diagnosis.Warning, "versions", fmt.Sprintf("client %d.%d and server %d.%d are more than %d minor version apart",
		ours.Major(), ours.Minor(), theirs.Major(), theirs.Minor(), skew)), true
}

// expiry judges when something expires. It says nothing about what never does.
func expiry(name, what string, at, now time.Time) []diagnosis.Check {
	left := at.Sub(now)
	switch {
	case at.IsZero():
		return nil
	case left <= 0:
		return []diagnosis.Check{check(diagnosis.Failed, name, fmt.Sprintf("%s expired %s ago", what, duration.HumanDuration(-left)))}
	case left < soon:
		return []diagnosis.Check{check(diagnosis.Warning, name, fmt.Sprintf("%s expires in %s", what, duration.HumanDuration(left)))}
	default:
		return []diagnosis.Check{check(diagnosis.OK, name, fmt.Sprintf("%s expires in %s", what, duration.HumanDuration(left)))}
	}
}

func identity(s serverFacts) []diagnosis.Check {
	if !s.asked || s.err != nil {
		return nil
	}
	var checks []diagnosis.Check
	switch {
	case s.userErr == nil:
		message := s.user
		if len(s.groups) > 0 {
			message += ", in " + strings.Join(s.groups, ", ")
		}
		checks = append(checks, check(diagnosis.OK, "user", message))
	case apierrors.IsUnauthorized(s.userErr):
		return []diagnosis.Check{check(diagnosis.Failed, "user", "the server does not accept the credentials in the kubeconfig; they may have expired")}
	default:
		checks = append(checks, check(diagnosis.Unknown, "user", run.Message(s.userErr)))
	}
	switch {
	case s.homeErr == nil:
		return append(checks, check(diagnosis.OK, "home", s.home))
	case apierrors.IsNotFound(s.homeErr):
		return append(checks, check(diagnosis.OK, "home", "this server has no home workspaces"))
	default:
		return append(checks, check(diagnosis.Warning, "home", run.Message(s.homeErr)))
	}
}

// program judges the files of one name on PATH.
func program(p programFacts) diagnosis.Check {
	if len(p.files) == 0 {
		return check(diagnosis.Warning, p.name, "not on PATH")
	}
	first := p.files[0]
	switch {
	case first.target == "":
		return check(diagnosis.Failed, p.name, first.file+" is a link that leads nowhere", "kubectl kcp setup"+diagnosis.Remark+"mends links of ours")
	case first.platform != "" && first.platform != here():
		return check(diagnosis.Failed, p.name, fmt.Sprintf("%s is for %s, and this is %s", first.file, first.platform, here()))
	case first.err != nil:
		return check(diagnosis.Failed, p.name, fmt.Sprintf("%s does not run: %s", first.file, run.Message(first.err)))
	}
	var shadowed []string
	for _, other := range p.files[1:] {
		if other.target != first.target {
			shadowed = append(shadowed, strings.TrimSpace(other.file+" "+other.version))
		}
	}
	message := strings.TrimSpace(first.file + " " + first.version)
	if len(shadowed) > 0 {
		return check(diagnosis.Warning, p.name, message+" shadows "+strings.Join(shadowed, ", "))
	}
	return check(diagnosis.OK, p.name, message)
}

func here() string { return runtime.GOOS + "/" + runtime.GOARCH }

func kubectl(version string) diagnosis.Check {
	found, err := utilversion.ParseGeneric(version)
	switch {
	case version == "":
		return check(diagnosis.Warning, "kubectl", "not on PATH, or it does not say which version it is")
	case err != nil:
		return check(diagnosis.Unknown, "kubectl", version)
	case found.LessThan(oldestKubectl):
		return check(diagnosis.Warning, "kubectl", fmt.Sprintf("%s does not know plugins below its own commands: \"kubectl create workspace\" needs %s", version, oldestKubectl))
	default:
		return check(diagnosis.OK, "kubectl", version)
	}
}

func completes(plugins map[string]bool) diagnosis.Check {
	var missing []string
	for plugin, ok := range plugins {
		if !ok {
			missing = append(missing, plugin)
		}
	}
	if len(missing) == 0 {
		return check(diagnosis.OK, "completion", "kubectl finds it")
	}
	slices.Sort(missing)
	return check(diagnosis.Warning, "completion", "kubectl does not find who completes "+strings.Join(missing, ", "), "kubectl kcp setup")
}

// errFailed is the answer of the command if a check has failed.
func errFailed(checks []diagnosis.Check) error {
	if slices.ContainsFunc(checks, func(c diagnosis.Check) bool { return c.State == diagnosis.Failed }) {
		return run.ErrNo
	}
	return nil
}

var errNoVersion = errors.New("the server does not say which version it is")
