package bind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
)

// errNotBound is what "do not bind" leads to.
var errNotBound = errors.New("nothing was bound")

// answers returns the answers to the export's claims: from the flags or, if there are
// none and somebody is there, from them.
func (o *Options) answers(ctx context.Context, apis *client.APIs) ([]apisv1alpha2.AcceptablePermissionClaim, error) {
	switch {
	case o.AcceptAll || o.RejectAll:
		return o.answerAll(ctx, apis)
	case len(o.accepts)+len(o.rejects) > 0:
		return o.answerSome(ctx, apis)
	case o.NoInput || o.DryRun == dryRunClient:
		return nil, nil
	}
	person, ok := ask.Someone(o.finder.Streams)
	if !ok {
		return nil, nil
	}
	export, err := o.export(ctx, apis)
	if err != nil || len(export.Spec.PermissionClaims) == 0 {
		// One may bind what one may not read. What is not bound because of it, the
		// server will say.
		return nil, nil //nolint:nilerr // because reading the export only serves the question
	}
	o.introduce(export, apis)
	return o.askPerson(ctx, person, export.Spec.PermissionClaims)
}

// export reads what is to be bound.
func (o *Options) export(ctx context.Context, apis *client.APIs) (*client.Export, error) {
	return apis.In(o.exportPath).Export(ctx, o.exportName)
}

func (o *Options) answerAll(ctx context.Context, apis *client.APIs) ([]apisv1alpha2.AcceptablePermissionClaim, error) {
	export, err := o.export(ctx, apis)
	if err != nil {
		return nil, run.Hint(fmt.Errorf("reading what export %s asks for: %w", o.exportName, err),
			"binding needs no permission to read the export; kubectl kcp claims accept "+o.Name+" --all answers afterwards")
	}
	state := apisv1alpha2.ClaimRejected
	if o.AcceptAll {
		state = apisv1alpha2.ClaimAccepted
	}
	return answer(export.Spec.PermissionClaims, state), nil
}

// answerSome answers the claims that flags name. What the flags do not say is taken from
// the export; without that a claim is answered for all objects and verbs.
func (o *Options) answerSome(ctx context.Context, apis *client.APIs) ([]apisv1alpha2.AcceptablePermissionClaim, error) {
	if i := slices.IndexFunc(o.accepts, func(c apisv1alpha2.PermissionClaim) bool { return c.Verbs != nil }); i >= 0 && apis.Old() {
		return nil, fmt.Errorf("this server does not know verbs in claims, so %s cannot be accepted for some of them", claim.Format(o.accepts[i]))
	}
	export, err := o.export(ctx, apis)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return nil, err
	}
	var asked []apisv1alpha2.PermissionClaim
	if err == nil {
		asked = export.Spec.PermissionClaims
	}
	complete := func(claims []apisv1alpha2.PermissionClaim) []apisv1alpha2.PermissionClaim {
		completed := make([]apisv1alpha2.PermissionClaim, 0, len(claims))
		for _, c := range claims {
			full, known := fill(c, asked)
			if err == nil && !known {
				o.warn("%s does not ask for %s", o.exportName, claim.Format(c))
			}
			completed = append(completed, full)
		}
		return completed
	}
	for _, c := range o.accepts {
		if full, known := fill(apisv1alpha2.PermissionClaim{GroupResource: c.GroupResource, IdentityHash: c.IdentityHash}, asked); known && c.Verbs != nil {
			o.warn("%s", claim.Warning(full, c.Verbs))
		}
	}
	return slices.Concat(
		answer(complete(o.accepts), apisv1alpha2.ClaimAccepted),
		answer(complete(o.rejects), apisv1alpha2.ClaimRejected),
	), nil
}

// warn writes a warning to the error stream, if there is one.
func (o *Options) warn(format string, args ...any) {
	if warning := fmt.Sprintf(format, args...); warning != "" {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "warning: %s\n", warning)
	}
}

// fill adds to c what it does not say, from the claim in asked that is about the same.
func fill(c apisv1alpha2.PermissionClaim, asked []apisv1alpha2.PermissionClaim) (full apisv1alpha2.PermissionClaim, known bool) {
	i := slices.IndexFunc(asked, func(a apisv1alpha2.PermissionClaim) bool {
		return a.GroupResource == c.GroupResource && (c.IdentityHash == "" || a.IdentityHash == c.IdentityHash)
	})
	if i < 0 {
		return c, false
	}
	full = *asked[i].DeepCopy()
	if c.Verbs != nil {
		full.Verbs = c.Verbs
	}
	return full, true
}

// answer gives all claims the same answer.
func answer(claims []apisv1alpha2.PermissionClaim, state apisv1alpha2.AcceptablePermissionClaimState) []apisv1alpha2.AcceptablePermissionClaim {
	answers := make([]apisv1alpha2.AcceptablePermissionClaim, 0, len(claims))
	for _, c := range claims {
		a := apisv1alpha2.AcceptablePermissionClaim{State: state}
		a.PermissionClaim = *c.DeepCopy()
		if a.Verbs == nil {
			a.Verbs = claim.AnyVerb()
		}
		a.Selector = claim.DefaultSelector(c)
		answers = append(answers, a)
	}
	return answers
}

// askPerson lets somebody answer.
func (o *Options) askPerson(ctx context.Context, person *ask.Person, claims []apisv1alpha2.PermissionClaim) ([]apisv1alpha2.AcceptablePermissionClaim, error) {
	choice, err := person.Choice(ctx, "Accept  a all   s one by one   r reject all   n decide later   q do not bind: ", "asrnq")
	if err != nil {
		return nil, err
	}
	switch choice {
	case "a":
		return answer(claims, apisv1alpha2.ClaimAccepted), nil
	case "r":
		return answer(claims, apisv1alpha2.ClaimRejected), nil
	case "q":
		return nil, errNotBound
	case "n":
		return nil, nil
	}
	var answers []apisv1alpha2.AcceptablePermissionClaim
	for _, c := range claims {
		question := fmt.Sprintf("%s (%s)   a accept   r reject   n later: ", claim.Format(c), strings.Join(c.Verbs, " "))
		choice, err := person.Choice(ctx, question, "arn")
		if err != nil {
			return nil, err
		}
		switch choice {
		case "a":
			answers = append(answers, answer([]apisv1alpha2.PermissionClaim{c}, apisv1alpha2.ClaimAccepted)...)
		case "r":
			answers = append(answers, answer([]apisv1alpha2.PermissionClaim{c}, apisv1alpha2.ClaimRejected)...)
		}
	}
	return answers, nil
}
