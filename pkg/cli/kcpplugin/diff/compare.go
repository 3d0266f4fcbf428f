package diff

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// change is something that those who use an API notice.
type change struct {
	// version and path say where, both empty for the resource as a whole.
	version, path string
	// what has changed.
	what string
	// breaks says that objects or clients that are fine with the old may not be with the
	// new.
	breaks bool
}

// comparison gathers changes.
type comparison struct {
	version string
	changes []change
}

func (c *comparison) breaks(path, format string, args ...any) {
	c.changes = append(c.changes, change{version: c.version, path: path, what: fmt.Sprintf(format, args...), breaks: true})
}

func (c *comparison) notice(path, format string, args ...any) {
	c.changes = append(c.changes, change{version: c.version, path: path, what: fmt.Sprintf(format, args...)})
}

// compare returns what changes for those who use an API when before becomes after.
func compare(before, after apisv1alpha1.APIResourceSchemaSpec) ([]change, error) {
	c := &comparison{}
	for _, name := range []struct{ what, before, after string }{
		{"group", before.Group, after.Group},
		{"scope", string(before.Scope), string(after.Scope)},
		{"plural name", before.Names.Plural, after.Names.Plural},
		{"singular name", before.Names.Singular, after.Names.Singular},
		{"kind", before.Names.Kind, after.Names.Kind},
		{"list kind", before.Names.ListKind, after.Names.ListKind},
	} {
		if name.before != name.after {
			c.breaks("", "%s %s became %s", name.what, name.before, name.after)
		}
	}
	for _, short := range before.Names.ShortNames {
		if !slices.Contains(after.Names.ShortNames, short) {
			c.breaks("", "short name %s is gone", short)
		}
	}
	for _, v := range after.Versions {
		if served(before, v.Name) == nil && v.Served {
			c.notice("", "version %s is new", v.Name)
		}
	}
	for i := range before.Versions {
		if err := c.versions(&before.Versions[i], served(after, before.Versions[i].Name)); err != nil {
			return nil, err
		}
	}
	return c.changes, nil
}

func served(spec apisv1alpha1.APIResourceSchemaSpec, name string) *apisv1alpha1.APIResourceVersion {
	for i := range spec.Versions {
		if v := &spec.Versions[i]; v.Name == name && v.Served {
			return v
		}
	}
	return nil
}

func (c *comparison) versions(before, after *apisv1alpha1.APIResourceVersion) error {
	c.version = ""
	switch {
	case !before.Served:
		return nil
	case after == nil:
		c.breaks("", "version %s is gone", before.Name)
		return nil
	}
	c.version = before.Name
	if after.Deprecated && !before.Deprecated {
		c.notice("", "is deprecated")
	}
	c.subresource("status", before.Subresources.Status != nil, after.Subresources.Status != nil)
	c.subresource("scale", before.Subresources.Scale != nil, after.Subresources.Scale != nil)
	for _, field := range before.SelectableFields {
		if !slices.Contains(after.SelectableFields, field) {
			c.breaks(field.JSONPath, "cannot be selected by any more")
		}
	}
	var x, y apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(before.Schema.Raw, &x); err != nil {
		return fmt.Errorf("the schema of version %s: %w", before.Name, err)
	}
	if err := json.Unmarshal(after.Schema.Raw, &y); err != nil {
		return fmt.Errorf("the schema of version %s: %w", before.Name, err)
	}
	c.schema("", &x, &y)
	return nil
}

func (c *comparison) subresource(name string, before, after bool) {
	switch {
	case before && !after:
		c.breaks("", "subresource %s is gone", name)
	case !before && after && name == "status":
		c.breaks("", "subresource status is new: the status cannot be written with the rest any more")
	case !before && after:
		c.notice("", "subresource %s is new", name)
	}
}
