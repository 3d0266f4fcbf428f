package versions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	firstSchema  = "v1.people.example.com"
	secondSchema = "v2.people.example.com"
)

// version1 and version2 are the versions of people: v2 has a name in two parts and no
// nickname.
const (
	version1 = `
  - name: v1
    served: true
    storage: STORAGE
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.name}]
    schema:
      type: object
      properties:
        spec:
          type: object
          properties:
            name: {type: string}
            nickname: {type: string}
            age: {type: integer}
            notes: {type: object, additionalProperties: {type: string}}
        status: {type: object, properties: {ready: {type: boolean}}}
`
	version2 = `
  - name: v2
    served: true
    storage: STORAGE
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.name.last}]
    schema:
      type: object
      properties:
        spec:
          type: object
          properties:
            name: {type: object, properties: {first: {type: string}, last: {type: string}}}
            years: {type: integer}
            notes: {type: object, additionalProperties: {type: string}}
        status: {type: object, properties: {phase: {type: string}}}
`
	rules = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIConversion
metadata: {name: v2.people.example.com}
spec:
  conversions:
  - from: v1
    to: v2
    rules:
    - {field: .spec.name, destination: .spec.name.first, transformation: "self.split(' ')[0]"}
    - {field: .spec.name, destination: .spec.name.last, transformation: "self.split(' ')[1]"}
    - {field: .spec.age, destination: .spec.years}
    - {field: .status.ready, destination: .status.phase, transformation: "self ? 'Ready' : 'Waiting'"}
    preserve: [.spec.nickname]
  - from: v2
    to: v1
    rules:
    - {field: .spec.name, destination: .spec.name, transformation: "self.?first.orValue('') + ' ' + self.?last.orValue('')"}
    - {field: .spec.years, destination: .spec.age}
    - {field: .status.phase, destination: .status.ready, transformation: "self == 'Ready'"}
`
)

// peopleSchema returns a schema with versions, of which the last is stored.
func peopleSchema(name, conversion string, versions ...string) string {
	text := fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: %s}
spec:
  group: example.com
  names: {plural: people, singular: person, kind: Person, listKind: PersonList}
  scope: Namespaced
`, name)
	if conversion != "" {
		text += "  conversion: " + conversion + "\n"
	}
	text += "  versions:"
	for i, version := range versions {
		text += strings.ReplaceAll(version, "STORAGE", fmt.Sprint(i == len(versions)-1))
	}
	return text
}

// newProvider returns a workspace that offers people in v1.
func newProvider(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	w := newWorkspace(t, server)
	w.create(schemas, peopleSchema(firstSchema, "", version1))
	w.offer(firstSchema)
	return w
}

// upgrade makes a provider offer both versions, of which v2 is stored.
func (w workspace) upgrade() {
	w.Helper()
	w.create(schemas, peopleSchema(secondSchema, "{strategy: None}", version1, version2))
	w.create(conversions, rules)
	w.replace(secondSchema)
}

// newPerson is a person in v1.
func newPerson(name string, age int) string {
	return fmt.Sprintf(`
apiVersion: example.com/v1
kind: Person
metadata: {name: %s}
spec: {name: Ann %s, nickname: Nan, age: %d, notes: {a.b/c: d}}`, name, name, age)
}
