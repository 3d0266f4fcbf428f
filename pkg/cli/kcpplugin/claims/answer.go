package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// attempts is how often an answer is given anew because somebody else has changed the
// binding meanwhile.
const attempts = 5

// AnswerOptions are what "claims accept" and "claims reject" are called with.
type AnswerOptions struct {
	// Name of the binding.
	Name string
	// Workspace names the workspace it is in, "" for the current one.
	Workspace string
	// Resources are the claims to answer, IdentityHash the one with that hash, All all.
	Resources    []string
	IdentityHash string
	All          bool
	// Verbs and Selector say what is accepted, if not what the export asks for.
	Verbs, Selector string

	finder *target.Finder
	answer answer

	resources []apisv1alpha2.PermissionClaim
	verbs     []string
	selector  *apisv1alpha2.PermissionClaimSelector
}

// answer is one of the two answers.
type answer struct {
	verb  string
	state apisv1alpha2.AcceptablePermissionClaimState
	done  string
}

var (
	accept = answer{verb: "accept", state: apisv1alpha2.ClaimAccepted, done: "accepted"}
	reject = answer{verb: "reject", state: apisv1alpha2.ClaimRejected, done: "rejected"}
)

// AddFlags adds the flags of the command to flags.
func (o *AnswerOptions) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace of the binding, instead of the current one")
	flags.StringSliceVar(&o.Resources, "resource", o.Resources, "Resource of the claim, RESOURCE[.GROUP]; can be repeated")
	flags.StringVar(&o.IdentityHash, "identity-hash", o.IdentityHash, "Identity of the claim; takes precedence over --resource")
	flags.BoolVar(&o.All, "all", o.All, "All claims of the binding")
	if o.answer == accept {
		flags.StringVar(&o.Verbs, "verbs", o.Verbs, "Verbs to accept, such as get+list, instead of those that the export asks for")
		flags.StringVar(&o.Selector, "selector", o.Selector, "Label selector of the objects to accept the claim for; * stands for all")
	}
}

// Complete reads the flags.
func (o *AnswerOptions) Complete() error {
	for _, arg := range o.Resources {
		c, err := claim.Parse(arg)
		if err != nil {
			return err
		}
		o.resources = append(o.resources, c)
	}
	var err error
	if o.Verbs != "" {
		if o.verbs, err = claim.ParseVerbs(o.Verbs); err != nil {
			return err
		}
	}
	if o.Selector != "" {
		selector, err := claim.ParseSelector(o.Selector)
		if err != nil {
			return err
		}
		o.selector = &selector
	}
	return nil
}

// Validate finds what contradicts itself.
func (o *AnswerOptions) Validate() error {
	named := len(o.resources) > 0 || o.IdentityHash != ""
	switch {
	case o.All && named:
		return errors.New("--all excludes --resource and --identity-hash")
	case !o.All && !named:
		return errors.New("which claims? --resource, --identity-hash or --all")
	default:
		return nil
	}
}

// Run answers the claims.
func (o *AnswerOptions) Run(ctx context.Context) error {
	apis, err := open(ctx, o.finder, o.Workspace)
	if err != nil {
		return err
	}
	if apis.Old() && (o.verbs != nil || o.selector != nil) {
		return errors.New("this server does not know verbs and selectors in claims")
	}
	var answered []apisv1alpha2.AcceptablePermissionClaim
	var warnings []string
	for range attempts {
		if answered, warnings, err = o.try(ctx, apis); !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "warning: %s\n", warning)
	}
	for _, a := range answered {
		_, err := fmt.Fprintf(o.finder.Streams.Out, "claim %q on APIBinding %q is %s\n", claim.Resource(a.PermissionClaim), o.Name, o.answer.done)
		if err != nil {
			return err
		}
	}
	return nil
}

// try reads the binding and writes the answers, on the condition that nobody else has
// written meanwhile.
func (o *AnswerOptions) try(ctx context.Context, apis *client.APIs) (answered []apisv1alpha2.AcceptablePermissionClaim, warnings []string, err error) {
	binding, err := apis.NamedBinding(ctx, o.Name)
	if err != nil {
		return nil, nil, err
	}
	if answered, err = o.decide(&binding.APIBinding); err != nil {
		return nil, nil, err
	}
	claims, err := apis.ClaimsToSend(binding, answered)
	if err != nil {
		return nil, nil, err
	}
	_, err = apis.PatchBinding(ctx, o.Name, map[string]any{
		"metadata": map[string]any{"resourceVersion": binding.ResourceVersion},
		"spec":     map[string]any{"permissionClaims": claims},
	})
	return answered, useless(&binding.APIBinding, answered), err
}

// useless returns a sentence for each claim that is accepted for verbs that the export
// does not ask for.
func useless(binding *apisv1alpha2.APIBinding, answered []apisv1alpha2.AcceptablePermissionClaim) []string {
	var warnings []string
	for _, a := range answered {
		asked := find(binding.Status.ExportPermissionClaims, a.PermissionClaim)
		if asked == nil || a.State != apisv1alpha2.ClaimAccepted {
			continue
		}
		if warning := claim.Warning(*asked, a.Verbs); warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

// decide returns the answers to be given. It performs no I/O.
func (o *AnswerOptions) decide(binding *apisv1alpha2.APIBinding) ([]apisv1alpha2.AcceptablePermissionClaim, error) {
	candidates := candidates(binding)
	var answered []apisv1alpha2.AcceptablePermissionClaim
	used := make([]bool, len(o.resources))
	for _, c := range candidates {
		if !o.picks(c.PermissionClaim, used) {
			continue
		}
		c.State = o.answer.state
		if o.verbs != nil {
			c.Verbs = o.verbs
		}
		if o.selector != nil {
			c.Selector = *o.selector
		}
		answered = append(answered, c)
	}
	if o.IdentityHash != "" {
		// The first one with that hash, which there is only one of as a rule.
		answered = answered[:min(len(answered), 1)]
	} else if i := slices.Index(used, false); i >= 0 {
		return nil, noMatch(binding, claim.Format(o.resources[i]), candidates)
	}
	if len(answered) == 0 {
		return nil, noMatch(binding, o.IdentityHash, candidates)
	}
	return answered, nil
}

// picks says whether a claim is to be answered. used says of each resource that was
// named whether there is such a claim.
func (o *AnswerOptions) picks(c apisv1alpha2.PermissionClaim, used []bool) bool {
	switch {
	case o.All:
		return true
	case o.IdentityHash != "":
		return c.IdentityHash == o.IdentityHash
	}
	picked := false
	for i, r := range o.resources {
		if r.GroupResource == c.GroupResource && (r.IdentityHash == "" || r.IdentityHash == c.IdentityHash) {
			used[i], picked = true, true
		}
	}
	return picked
}

// candidates returns the claims that the binding answers and, after them, those of the
// export that it does not, as they would be accepted.
func candidates(binding *apisv1alpha2.APIBinding) []apisv1alpha2.AcceptablePermissionClaim {
	var all []apisv1alpha2.AcceptablePermissionClaim
	for i := range binding.Spec.PermissionClaims {
		all = append(all, *binding.Spec.PermissionClaims[i].DeepCopy())
	}
	for _, asked := range binding.Status.ExportPermissionClaims {
		if find(claimsOf(all), asked) != nil {
			continue
		}
		var c apisv1alpha2.AcceptablePermissionClaim
		c.PermissionClaim = *asked.DeepCopy()
		c.Selector = claim.DefaultSelector(asked)
		all = append(all, c)
	}
	return all
}

func noMatch(binding *apisv1alpha2.APIBinding, what string, candidates []apisv1alpha2.AcceptablePermissionClaim) error {
	if len(candidates) == 0 {
		return fmt.Errorf("APIBinding %q has no claims, and its export asks for nothing", binding.Name)
	}
	var names []string
	for _, c := range candidates {
		names = append(names, claim.Format(c.PermissionClaim))
	}
	return run.Hint(fmt.Errorf("APIBinding %q has no claim %s", binding.Name, what), "there are "+strings.Join(names, ", "))
}

func newAnswer(finder *target.Finder, a answer) *cobra.Command {
	o := &AnswerOptions{finder: finder, answer: a}
	cmd := &cobra.Command{
		Use:   a.verb + " BINDING",
		Short: strings.ToUpper(a.verb[:1]) + a.verb[1:] + " claims of the provider of a bound API",
		Long: `Answer claims that the provider of a bound API makes: those that --resource names,
the one with --identity-hash, or --all. Claims that were answered before can be
answered anew.

Exit codes: 0 answered, 1 any error, in which case nothing has changed.`,
		Example: fmt.Sprintf(`  kubectl kcp claims %[1]s certs --resource configmaps
  kubectl kcp claims %[1]s certs --all`, a.verb),
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
