package binding

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

// offer is a resource that is, or should be, bound.
type offer struct {
	schema.GroupResource
	schema string
}

// offers returns what the export has or, if it may not be read, what is bound.
func (f *Findings) offers() []offer {
	var all []offer
	if f.Export != nil {
		for _, r := range f.Export.Spec.Resources {
			all = append(all, offer{schema.GroupResource{Group: r.Group, Resource: r.Name}, r.Schema})
		}
		return all
	}
	if f.Binding == nil {
		return nil
	}
	for _, b := range f.Binding.Status.BoundResources {
		all = append(all, offer{schema.GroupResource{Group: b.Group, Resource: b.Resource}, b.Schema.Name})
	}
	return all
}

// resources says which resources are bound, and what is in the way of the others.
func (j *judge) resources() {
	offers := j.offers()
	check := diagnosis.Check{Name: "resources", State: diagnosis.OK}
	bound, explained := 0, false
	for _, o := range offers {
		detail := diagnosis.Detail{State: diagnosis.OK, Name: o.String(), Message: o.schema}
		var has *apisv1alpha2.BoundAPIResource
		if j.Binding != nil {
			has = find(j.Binding.Status.BoundResources, o.GroupResource)
		}
		if why, denied := j.Denied[o.GroupResource]; denied {
			detail.State = diagnosis.Warning
			detail.Notes = append(detail.Notes, why.note())
		}
		if has != nil {
			bound++
		} else {
			detail.State, detail.Message = diagnosis.Failed, "not bound"
			if why := j.obstruct(o); why != "" {
				detail.Message, explained = why, true
			} else if j.Binding == nil {
				detail.State, detail.Message = diagnosis.OK, o.schema
			}
		}
		if detail.State == diagnosis.Failed {
			check.State = diagnosis.Failed
		} else if detail.State == diagnosis.Warning && check.State == diagnosis.OK {
			check.State = diagnosis.Warning
		}
		check.Details = append(check.Details, detail)
	}
	check.Message = fmt.Sprintf("%d of %d bound", bound, len(offers))
	if j.Binding == nil {
		check.Message = fmt.Sprintf("%d offered", len(offers))
	}
	check.Next = j.permitReading()
	j.Add(check)
	if message := obstacle(j.Findings); message != "" && !explained {
		j.Block(message, j.culprits(message)...)
	}
}

// note says what is known about why a resource may not be listed.
func (d Denial) note() string {
	note := "you may not list it"
	switch d.By {
	case ConsumerPolicy:
		note += ": no role in this workspace lets you"
	case ProviderPolicy:
		note += ": a role in this workspace lets you, the maximal permission policy of the provider does not"
	}
	if d.Reason != "" {
		note += " (" + d.Reason + ")"
	}
	return note
}

// permitReading are the steps after which the caller may read what he may not. Where the
// workspace is in the way, that of the provider may be, too, which shows then.
func (j *judge) permitReading() []string {
	denied := map[Policy][]schema.GroupResource{}
	for _, o := range j.offers() {
		if why, ok := j.Denied[o.GroupResource]; ok {
			denied[why.By] = append(denied[why.By], o.GroupResource)
		}
	}
	user := cmp.Or(j.User, "USER")
	var steps []string
	if resources := denied[ConsumerPolicy]; len(resources) > 0 {
		steps = diagnosis.PermitReading(j.Commands, j.Consumer, user, resources)
	}
	if resources := denied[ProviderPolicy]; len(resources) > 0 {
		steps = append(steps, diagnosis.PermitReading(j.Commands, j.Provider, diagnosis.ConsumerPrefix+user, resources)...)
	}
	return steps
}

// obstruct says what is in the way of an offer, and makes a blocker of it; it returns ""
// if that is not known.
func (j *judge) obstruct(o offer) string {
	if slices.Contains(j.MissingSchemas, o.schema) {
		j.Block(fmt.Sprintf("schema %s, which the export names, is not there", o.schema),
			diagnosis.Step(j.Commands.Kubectl(j.Provider, "get", "apiresourceschemas"), "its provider has to create it"))
		return "its schema " + o.schema + " is not there"
	}
	if crd := definition(j.Definitions, o.GroupResource); crd != nil {
		j.Block(fmt.Sprintf("%s is served by a CRD of this workspace", o.GroupResource), j.deleteDefinition(crd.Name))
		return fmt.Sprintf("NamingConflicts: a CRD of this workspace, %s old", diagnosis.Age(j.Now, crd.CreationTimestamp.Time))
	}
	for i := range j.Others {
		other := &j.Others[i]
		if find(other.Status.BoundResources, o.GroupResource) != nil {
			j.Block(fmt.Sprintf("%s is bound by APIBinding %s to %s", o.GroupResource, other.Name, source(other)), j.unbind(other.Name))
			return "NamingConflicts: APIBinding " + other.Name + " to " + source(other)
		}
	}
	return ""
}

// deleteDefinition is the command that deletes a definition.
func (j *judge) deleteDefinition(name string) string {
	command := j.Commands.Kubectl(j.Consumer, "delete", "crd", name)
	if n, known := j.Objects[name]; known {
		return diagnosis.Step(command, "deletes %d objects", n)
	}
	return diagnosis.Step(command, "deletes all its objects")
}

func (j *judge) unbind(name string) string {
	return diagnosis.Step(j.Commands.Plugin(j.Consumer, "kcp", "unbind", name), "deletes all objects of its APIs")
}

// source names what a binding is bound to.
func source(b *client.Binding) string {
	export := b.Spec.Reference.Export
	switch {
	case export == nil:
		return "nothing"
	case export.Path == "":
		return export.Name
	default:
		return export.Path + ":" + export.Name
	}
}

var (
	namedDefinition = regexp.MustCompile(`CustomResourceDefinition "([^"]+)"`)
	namedBinding    = regexp.MustCompile(`APIBinding "([^"]+)"`)
)

// culprits are the commands that remove what the server says is in the way: others may have
// a name of a resource without having the resource.
func (j *judge) culprits(message string) []string {
	var steps []string
	for _, match := range namedDefinition.FindAllStringSubmatch(message, -1) {
		steps = append(steps, j.deleteDefinition(match[1]))
	}
	for _, match := range namedBinding.FindAllStringSubmatch(message, -1) {
		steps = append(steps, j.unbind(match[1]))
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}
