package client

import (
	"errors"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/cli/run"
)

// reviewGroup is the API group of questions about permissions, which are asked by creating
// something that is not stored.
const reviewGroup = authorizationv1.GroupName

// errReadOnly is what a request that writes ends with where nothing is to be written.
var errReadOnly = errors.New("nothing is written from here: this shell is read-only")

// ReadOnly makes every request fail that would write, before it is made. Questions about
// permissions are none of them.
func (c *Client) ReadOnly() { c.readOnly = true }

// CheckWritable returns the error that writes end with, for those who would do a lot
// before they write.
func (c *Client) CheckWritable() error { return c.mayWrite(nil) }

// mayWrite returns an error if a write to path is not to be made.
func (c *Client) mayWrite(path []string, dryRun ...string) error {
	if !c.readOnly || slices.Contains(dryRun, metav1.DryRunAll) || isQuestion(path) {
		return nil
	}
	return run.Hint(errReadOnly, `it was started with "kubectl ws shell --read-only"; leave it first`)
}

// isQuestion says whether what is created at path is a question, about permissions or who
// the caller is: it is not stored.
func isQuestion(path []string) bool {
	return slices.Contains(path, reviewGroup) || slices.Contains(path, authenticationv1.GroupName)
}
