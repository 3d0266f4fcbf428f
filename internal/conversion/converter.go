package conversion

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Converter converts the objects of one API between its versions. It is immutable.
type Converter struct {
	pairs map[versions]*pair
	// preserved is what the conversions from each version preserve. An annotation may bring
	// back nothing else.
	preserved map[string][]preserved
	storage   string
}

// Convert converts objects, which are changed and returned, to a version of their group. If
// there is one that cannot be converted the error is an *Error, and the objects are of no
// use any more.
func (c *Converter) Convert(objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	for _, u := range objects {
		if err := c.convert(u, to); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func (c *Converter) convert(u *unstructured.Unstructured, to schema.GroupVersion) error {
	budget := int64(objectBudget)
	for _, step := range c.steps(u.GroupVersionKind().Version, to.Version) {
		if err := c.step(u, step, &budget); err != nil {
			return err
		}
		u.SetAPIVersion(schema.GroupVersion{Group: to.Group, Version: step.to}.String())
	}
	return nil
}

// steps returns the conversions from one version to another.
func (c *Converter) steps(from, to string) []versions {
	direct := versions{from, to}
	up, down := versions{from, c.storage}, versions{c.storage, to}
	switch {
	case from == to:
		return nil
	case c.pairs[direct] != nil, from == c.storage, to == c.storage:
		return []versions{direct}
	case c.pairs[up] != nil, c.pairs[down] != nil:
		return []versions{up, down}
	}
	return []versions{direct}
}

// step does one conversion, all but the version of u itself. What it may cost is taken
// from the budget.
func (c *Converter) step(u *unstructured.Unstructured, step versions, budget *int64) error {
	conversion := c.pairs[step]
	if conversion == nil {
		conversion = &pair{}
	}
	values, err := conversion.read(u, step, budget)
	if err != nil {
		return err
	}
	saved := conversion.saved(u.Object)
	conversion.clear(u.Object)
	c.restore(u, step.to)
	for i := range conversion.rules {
		if !values[i].set {
			// It may have come back with what was preserved.
			conversion.rules[i].destination.remove(u.Object)
			continue
		}
		if err := conversion.rules[i].destination.set(u.Object, values[i].value); err != nil {
			return newError(u, step.from, step.to, &conversion.rules[i], err)
		}
	}
	if err := save(u, step.from, saved); err != nil {
		return newError(u, step.from, step.to, nil, err)
	}
	return nil
}

// newValue is what a rule makes of its field.
type newValue struct {
	value any
	set   bool
}

// read returns what the rules make of an object, which is only read.
func (p *pair) read(u *unstructured.Unstructured, step versions, budget *int64) ([]newValue, error) {
	values := make([]newValue, len(p.rules))
	for i := range p.rules {
		rule := &p.rules[i]
		value, found := rule.field.get(u.Object)
		if !found {
			continue
		}
		values[i] = newValue{value: value, set: true}
		if rule.expression == nil || value == nil {
			continue
		}
		if *budget <= 0 {
			return nil, newError(u, step.from, step.to, rule, fmt.Errorf("the expressions before this one cost more than %d together", int64(objectBudget)))
		}
		result, cost, err := rule.expression.eval(value)
		*budget -= int64(cost)
		switch {
		case errors.Is(err, errNothing):
			values[i] = newValue{}
		case err != nil:
			return nil, newError(u, step.from, step.to, rule, err)
		default:
			values[i].value = result
		}
	}
	return values, nil
}

// clear removes what rules read and write, and what is preserved.
func (p *pair) clear(object map[string]any) {
	for i := range p.rules {
		p.rules[i].field.remove(object)
		p.rules[i].destination.remove(object)
	}
	for _, preserved := range p.preserve {
		preserved.path.remove(object)
	}
}
