// Package diagnosis is what comes out of the question why something is stuck: what was
// looked at, what was found, what holds it, and what to do about that.
//
// The subjects have packages of their own below this one. Each gathers what there is to
// know in a few requests, and judges that without making any. The contract:
//
//  1. What may not be read, or could not be, is Unknown. Nothing is guessed.
//  2. A Diagnosis without Blockers is a good one, even if it has warnings.
//  3. A next step is a command for a shell as it stands. Behind Remark stands what it
//     does, which a shell takes for a comment. Commands for another workspace than the
//     one where the user is name it.
//  4. Documents only ever get more fields.
package diagnosis
