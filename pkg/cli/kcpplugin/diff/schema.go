package diff

import (
	"maps"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// props is the schema of a value.
type props = apiextensionsv1.JSONSchemaProps

// schema compares what may stand at path.
func (c *comparison) schema(path string, before, after *props) {
	if !sameType(before, after) {
		c.breaks(path, "type %s became %s", typeOf(before), typeOf(after))
		// What is in it says nothing any more.
		return
	}
	if widened(before, after) {
		c.notice(path, "type %s became %s", typeOf(before), typeOf(after))
	}
	c.properties(path, before, after)
	c.required(path, before, after)
	c.enum(path, before, after)
	c.bounds(path, before, after)
	c.strings(path, before, after)
	c.flags(path, before, after)
	c.rules(path, before, after)
	c.nested(path, before, after)
	if !equality.Semantic.DeepEqual(before.Default, after.Default) {
		c.notice(path, "default %s became %s", text(before.Default), text(after.Default))
	}
}

func typeOf(s *props) string {
	switch {
	case s.XIntOrString:
		return "int-or-string"
	case s.Type == "":
		return "any"
	default:
		return s.Type
	}
}

func sameType(before, after *props) bool {
	return typeOf(before) == typeOf(after) || widened(before, after)
}

// widened says whether after allows all values of before, and others.
func widened(before, after *props) bool {
	x, y := typeOf(before), typeOf(after)
	return x != y && (x == "integer" && (y == "number" || y == "int-or-string") || x == "string" && y == "int-or-string")
}

// keeps says whether fields that have no schema are kept.
func keeps(s *props) bool { return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields }

func (c *comparison) properties(path string, before, after *props) {
	for _, name := range slices.Sorted(maps.Keys(before.Properties)) {
		x := before.Properties[name]
		y, ok := after.Properties[name]
		switch {
		case ok:
			c.schema(path+"."+name, &x, &y)
		case keeps(after):
			c.notice(path+"."+name, "has no schema any more, and is kept as it is")
		default:
			c.breaks(path+"."+name, "is gone")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.Properties)) {
		if _, ok := before.Properties[name]; ok {
			continue
		}
		if keeps(before) {
			c.breaks(path+"."+name, "has a schema now, and could be anything before")
		} else {
			c.notice(path+"."+name, "is new")
		}
	}
	if keeps(before) && !keeps(after) {
		c.breaks(path, "drops fields that have no schema")
	}
}

func (c *comparison) required(path string, before, after *props) {
	for _, name := range after.Required {
		if slices.Contains(before.Required, name) {
			continue
		}
		// What is missing is filled in before anybody asks for it.
		if after.Properties[name].Default != nil {
			c.notice(path+"."+name, "is required, and has a default")
		} else {
			c.breaks(path+"."+name, "is required")
		}
	}
	for _, name := range before.Required {
		if _, ok := after.Properties[name]; ok && !slices.Contains(after.Required, name) {
			c.notice(path+"."+name, "is not required any more")
		}
	}
}

func (c *comparison) enum(path string, before, after *props) {
	x, y := values(before.Enum), values(after.Enum)
	switch {
	case len(x) == 0 && len(y) > 0:
		c.breaks(path, "is one of %v now", y)
	case len(x) > 0 && len(y) == 0:
		c.notice(path, "can have other values than %v", x)
	default:
		for _, value := range x {
			if !slices.Contains(y, value) {
				c.breaks(path, "cannot be %s any more", value)
			}
		}
		for _, value := range y {
			if !slices.Contains(x, value) {
				c.notice(path, "can be %s", value)
			}
		}
	}
}

func values(enum []apiextensionsv1.JSON) []string {
	var all []string
	for _, value := range enum {
		all = append(all, string(value.Raw))
	}
	return all
}

func (c *comparison) bounds(path string, before, after *props) {
	for _, b := range []struct {
		name          string
		before, after *float64
		// lower says that more is narrower.
		lower bool
	}{
		{"minimum", before.Minimum, after.Minimum, true},
		{"maximum", before.Maximum, after.Maximum, false},
		{"minimum length", number(before.MinLength), number(after.MinLength), true},
		{"maximum length", number(before.MaxLength), number(after.MaxLength), false},
		{"minimum of items", number(before.MinItems), number(after.MinItems), true},
		{"maximum of items", number(before.MaxItems), number(after.MaxItems), false},
		{"minimum of properties", number(before.MinProperties), number(after.MinProperties), true},
		{"maximum of properties", number(before.MaxProperties), number(after.MaxProperties), false},
	} {
		switch {
		case equality.Semantic.DeepEqual(b.before, b.after):
		case b.after != nil && (b.before == nil || (*b.after > *b.before) == b.lower):
			c.breaks(path, "has a %s of %s", b.name, format(b.after))
		case b.after != nil:
			c.notice(path, "has a %s of %s, not %s", b.name, format(b.after), format(b.before))
		default:
			c.notice(path, "has no %s any more", b.name)
		}
	}
}

func number(i *int64) *float64 {
	if i == nil {
		return nil
	}
	f := float64(*i)
	return &f
}

func format(f *float64) string { return strconv.FormatFloat(*f, 'g', -1, 64) }

func (c *comparison) strings(path string, before, after *props) {
	for _, s := range []struct{ name, before, after string }{
		{"pattern", before.Pattern, after.Pattern},
		{"format", before.Format, after.Format},
	} {
		switch {
		case s.before == s.after:
		case s.after == "":
			c.notice(path, "has no %s any more", s.name)
		default:
			c.breaks(path, "has the %s %s", s.name, s.after)
		}
	}
}

func (c *comparison) flags(path string, before, after *props) {
	for _, f := range []struct {
		narrowed, widened string
		// before and after say whether it is narrow.
		before, after bool
	}{
		{"cannot be null any more", "can be null", !before.Nullable, !after.Nullable},
		{"cannot be its minimum any more", "can be its minimum", before.ExclusiveMinimum, after.ExclusiveMinimum},
		{"cannot be its maximum any more", "can be its maximum", before.ExclusiveMaximum, after.ExclusiveMaximum},
		{"cannot have an item twice any more", "can have an item twice", before.UniqueItems, after.UniqueItems},
		{"has to be an object with a kind", "does not have to be an object with a kind any more", before.XEmbeddedResource, after.XEmbeddedResource},
	} {
		switch {
		case f.after && !f.before:
			c.breaks(path, "%s", f.narrowed)
		case f.before && !f.after:
			c.notice(path, "%s", f.widened)
		}
	}
}

// rules compares what is text or logic: equal, or not comparable.
func (c *comparison) rules(path string, before, after *props) {
	for _, rule := range after.XValidations {
		if !hasRule(before, rule.Rule) {
			c.breaks(path, "has the rule %s", rule.Rule)
		}
	}
	for _, rule := range before.XValidations {
		if !hasRule(after, rule.Rule) {
			c.notice(path, "has the rule %s no longer", rule.Rule)
		}
	}
	for _, part := range []struct {
		name          string
		before, after any
	}{
		{"anyOf", before.AnyOf, after.AnyOf},
		{"oneOf", before.OneOf, after.OneOf},
		{"allOf", before.AllOf, after.AllOf},
		{"not", before.Not, after.Not},
		{"multipleOf", before.MultipleOf, after.MultipleOf},
		{"x-kubernetes-list-type", before.XListType, after.XListType},
		{"x-kubernetes-list-map-keys", before.XListMapKeys, after.XListMapKeys},
		{"x-kubernetes-map-type", before.XMapType, after.XMapType},
	} {
		if !equality.Semantic.DeepEqual(part.before, part.after) {
			c.breaks(path, "has another %s", part.name)
		}
	}
}

func hasRule(s *props, rule string) bool {
	return slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return r.Rule == rule })
}

// nested compares the items of lists and the values of maps.
func (c *comparison) nested(path string, before, after *props) {
	x, y := items(before), items(after)
	switch {
	case x != nil && y != nil:
		c.schema(path+"[]", x, y)
	case y != nil:
		c.breaks(path+"[]", "has a schema now, and could be anything before")
	case x != nil:
		c.notice(path+"[]", "can be anything")
	}
	v, w := before.AdditionalProperties, after.AdditionalProperties
	switch {
	case v == nil && w == nil:
	case v == nil:
		c.notice(path, "can have any keys")
	case w == nil:
		c.breaks(path, "cannot have any keys any more")
	case v.Schema != nil && w.Schema != nil:
		c.schema(path+"{}", v.Schema, w.Schema)
	case w.Schema != nil:
		c.breaks(path+"{}", "has a schema now, and could be anything before")
	case v.Schema != nil:
		c.notice(path+"{}", "can be anything")
	}
}

func items(s *props) *props {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func text(value *apiextensionsv1.JSON) string {
	if value == nil {
		return "(none)"
	}
	return string(value.Raw)
}
