package options

import "strings"

// problems are several things that are wrong with the options at the same time. They are
// told in one line, as everything is that goes wrong with a command.
type problems []error

func (p problems) Error() string {
	messages := make([]string, 0, len(p))
	for _, err := range p {
		messages = append(messages, err.Error())
	}
	return strings.Join(messages, "; ")
}

func (p problems) Unwrap() []error { return p }
