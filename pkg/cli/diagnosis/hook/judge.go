package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostAccounts is how many service accounts are suggested.
	mostAccounts = 3
	// never is what is said of a hook that has written nothing.
	never = "never"
)

// Judge says who waits for a hook, and why. It makes no requests.
func Judge(f *Findings) *diagnosis.Diagnosis {
	j := &judge{Findings: f, Diagnosis: diagnosis.New(string(f.Kind), f.Name, f.Now)}
	j.Facts = []string{j.Text()}
	j.permission()
	if f.Other != nil {
		j.other()
		return j.Diagnosis
	}
	waiting := j.waiting()
	if len(waiting) == 0 {
		return j.Diagnosis
	}
	j.controllers()
	j.table(waiting)
	return j.Diagnosis
}

// judge is a diagnosis being made.
type judge struct {
	*Findings
	*diagnosis.Diagnosis
}

// permission says whether the one who asks may act as the hook, and so whether all who wait
// could be seen.
func (j *judge) permission() {
	check := diagnosis.Check{Name: "you may " + j.Findings.Kind.Verb(), State: diagnosis.OK}
	switch {
	case j.WaitingErr == nil && j.Type != nil:
		check.Message = fmt.Sprintf("virtual workspace answers on %d of %d shards", j.Asked, len(j.Findings.Kind.addresses(j.Type)))
	case j.WaitingErr == nil:
		check.Message = "virtual workspace answers"
	case j.AllowedErr == nil && j.Allowed.Allowed:
		check.State, check.Message = diagnosis.Failed, "but the virtual workspace says: "+j.WaitingErr.Error()
	case j.AllowedErr == nil || apierrors.IsForbidden(j.WaitingErr):
		check.State = diagnosis.Warning
		check.Message = fmt.Sprintf("not granted to you; looked at the workspaces in %s only", strings.Join(j.Looked, " and "))
		if len(j.Looked) == 0 {
			check.State, check.Message = diagnosis.Unknown, "not granted to you, nor may you list workspaces where you are"
		}
	default:
		check.State, check.Message = diagnosis.Unknown, j.WaitingErr.Error()
	}
	j.Add(check)
}

// waiting returns those who wait, those who have waited the longest last.
func (j *judge) waiting() []diagnosis.Detail {
	var all []diagnosis.Detail
	for i := range j.Waiting {
		lc := &j.Waiting[i]
		cluster := logicalcluster.FromAnnotations(lc.Annotations).String()
		detail := diagnosis.Detail{Name: lc.Annotations[logicalcluster.PathAnnotationKey], Cluster: cluster, Phase: string(lc.Status.Phase), Message: never}
		if detail.Name == "" {
			detail.Name = cluster
		}
		if last, ok := j.Findings.Kind.LastWrite(lc, j.ID); ok {
			detail.Message = fmt.Sprintf("%s %s ago", last.By, diagnosis.Age(j.Now, last.At.Time))
		}
		detail.Since = j.since(lc)
		all = append(all, detail)
	}
	for i := range j.Workspaces {
		ws := &j.Workspaces[i]
		all = append(all, diagnosis.Detail{Name: ws.Name, Cluster: ws.Spec.Cluster, Phase: string(ws.Status.Phase), Since: j.since(ws), Message: "?"})
	}
	slices.SortStableFunc(all, func(a, b diagnosis.Detail) int { return b.Since.Time.Compare(a.Since.Time) })
	return all
}

// since is when a hook's turn began.
func (j *judge) since(object metav1.Object) *metav1.Time {
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		return deleted
	}
	created := object.GetCreationTimestamp()
	return &created
}

// controllers says who was permitted to act as the hook.
func (j *judge) controllers() {
	if j.Type == nil {
		return
	}
	check := diagnosis.Check{Name: "controllers", State: diagnosis.OK}
	switch {
	case j.GrantsErr != nil:
		check.State, check.Message = diagnosis.Unknown, "roles of "+j.Path.String()+" may not be read"
	case len(j.Grants) == 0:
		check.State, check.Message = diagnosis.Warning, "nobody was granted verb "+j.Findings.Kind.Verb()+" by name, only administrators may act"
	default:
		check.Message = "verb " + j.Findings.Kind.Verb() + " is granted to " + named(j.Grants)
	}
	j.Add(check)
}

func named(subjects []rbacv1.Subject) string {
	var all []string
	for _, s := range subjects {
		name := s.Name
		if s.Namespace != "" {
			name = s.Namespace + "/" + name
		}
		all = append(all, s.Kind+" "+name)
	}
	return strings.Join(all, ", ")
}

// table shows who waits. Those who have waited too long block, with what to do about them;
// for the others the same can be done.
func (j *judge) table(waiting []diagnosis.Detail) {
	late := 0
	for _, detail := range waiting {
		if j.Now.Sub(detail.Since.Time) > j.OlderThan {
			late++
		}
	}
	what := "logical clusters"
	if len(waiting) == 1 {
		what = "logical cluster"
	}
	check := diagnosis.Check{Name: fmt.Sprintf("%d %s", len(waiting), what), State: diagnosis.Waiting, Details: waiting}
	message, steps := j.mend(waiting, late)
	if late == 0 {
		check.Next = steps
		j.Add(check)
		return
	}
	j.Add(check)
	j.Block(message, steps...)
}

// mend says what blocks and what to do about it.
func (j *judge) mend(waiting []diagnosis.Detail, late int) (message string, steps []string) {
	message = fmt.Sprintf("%d waiting longer than %s", late, duration.HumanDuration(j.OlderThan))
	oldest := waiting[len(waiting)-1]
	debug := []string{"kcp", "debug", string(j.Findings.Kind), j.Name}
	done := diagnosis.Step(j.Commands.Plugin(j.Commands.Here, append(debug, "--done", ":"+oldest.Name)...), "skips what it would have done there")
	switch {
	case j.Gone():
		return message + ", and the WorkspaceType is gone", []string{done}
	case j.Type != nil && j.GrantsErr == nil && len(j.Grants) == 0:
		message += ", and nobody was granted verb " + j.Findings.Kind.Verb()
		for _, account := range j.Accounts[:min(len(j.Accounts), mostAccounts)] {
			steps = append(steps, diagnosis.Step(j.Commands.Plugin(j.Commands.Here, append(debug, "--as", account)...), "says what that one lacks"))
		}
	}
	return message, append(steps, done)
}

// other says whether somebody else may act as the hook.
func (j *judge) other() {
	o := j.Other
	if o.Err != nil {
		j.Add(diagnosis.Check{Name: "permissions", State: diagnosis.Unknown, Message: "you may not ask for those of others: " + o.Err.Error()})
		j.Block("what "+o.User+" may is not known", diagnosis.Step(j.Commands.Kubectl(j.Path, "auth", "can-i", "create", "subjectaccessreviews"), "has to say yes"))
		return
	}
	what := fmt.Sprintf("%s on workspacetypes/%s in %s", j.Findings.Kind.Verb(), j.TypeName, j.Path)
	j.otherMay("access", "verb access on / in "+j.Path.String(), o.Access.Allowed, o.Access.Reason)
	j.otherMay("verb "+j.Findings.Kind.Verb(), what, o.Allowed.Allowed, o.Allowed.Reason)
	if !o.Access.Allowed || !o.Allowed.Allowed {
		j.Block(fmt.Sprintf("%s may not %s", o.User, what), j.permit(o)...)
		return
	}
	if o.VirtualErr == nil {
		j.Add(diagnosis.Check{Name: "virtual workspace", State: diagnosis.OK, Message: "it answers"})
	} else {
		// It may be that nobody may be put on, which says nothing about him.
		j.Add(diagnosis.Check{Name: "virtual workspace", State: diagnosis.Unknown, Message: o.VirtualErr.Error()})
	}
	j.rules()
}

func (j *judge) otherMay(name, what string, allowed bool, reason string) {
	check := diagnosis.Check{Name: name, State: diagnosis.OK, Message: what}
	if !allowed {
		check.State = diagnosis.Failed
		check.Message += " is not granted to " + j.Other.User
		if reason != "" {
			check.Message += ": " + reason
		}
	}
	j.Add(check)
}

// permit are the commands after which the other one may act as the hook.
func (j *judge) permit(o *Other) []string {
	subject, short := "--user="+o.User, o.User
	if account, ok := strings.CutPrefix(o.User, accountPrefix); ok {
		subject, short = "--serviceaccount="+account, account
	}
	var steps []string
	if !o.Access.Allowed {
		steps = append(steps, diagnosis.PermitAccess(j.Commands, j.Path, subject, short))
	}
	if !o.Allowed.Allowed {
		role := j.Findings.Kind.Verb() + "-" + j.TypeName
		steps = append(steps,
			j.Commands.Kubectl(j.Path, "create", "clusterrole", role, "--verb="+j.Findings.Kind.Verb(),
				"--resource="+types.GroupResource().String(), "--resource-name="+j.TypeName),
			j.Commands.Kubectl(j.Path, "create", "clusterrolebinding", role+"-"+diagnosis.ObjectName(short), "--clusterrole="+role, subject))
	}
	return steps
}

// rules says what the hook may do in workspaces that wait for it.
func (j *judge) rules() {
	rules := j.Findings.Kind.Rules(j.Type)
	check := diagnosis.Check{Name: "rules", State: diagnosis.OK, Message: "whatever the creator of the workspace may, who is the one it acts as"}
	if len(rules) > 0 {
		check.Message = "these are all that it may do in workspaces that wait for it"
	}
	for _, rule := range rules {
		check.Details = append(check.Details, diagnosis.Detail{Name: strings.Join(rule.Verbs, ","), Message: strings.Join(slices.Concat(resourcesOf(rule), rule.NonResourceURLs), " ")})
	}
	if len(rules) > 0 && !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return len(r.NonResourceURLs) > 0 }) {
		check.State = diagnosis.Warning
		check.Message += "; clients that use discovery need get on /api, /api/*, /apis and /apis/* too"
	}
	j.Add(check)
}

func resourcesOf(rule rbacv1.PolicyRule) []string {
	var all []string
	for _, resource := range rule.Resources {
		for _, group := range rule.APIGroups {
			name := resource
			if group != "" {
				name += "." + group
			}
			if len(rule.ResourceNames) > 0 {
				name += "/" + strings.Join(rule.ResourceNames, "|")
			}
			all = append(all, name)
		}
	}
	return all
}

// DefaultOlderThan is how long somebody may wait before it blocks.
const DefaultOlderThan = 5 * time.Minute
