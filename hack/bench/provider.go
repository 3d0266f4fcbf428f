//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	apisPath       = "/apis/apis.kcp.io/v1alpha2"
	schemasPath    = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas"
	gadgetsExport  = "gadgets"
	gadgetsPath    = "/apis/gadgets.example.com/v1/gadgets"
	identityWait   = 30 * time.Second
	gadgetFields   = 160
	gadgetsVersion = "v1"
)

// gadget is an object of the exported API.
var gadget = kind{
	name:       "bound object",
	collection: gadgetsPath,
	body: func(name, stamp string) string {
		return fmt.Sprintf(`{"apiVersion":"gadgets.example.com/v1","kind":"Gadget","metadata":{"name":%q},"spec":{"sent":%q,"field1":"blue","field2":"large"}}`, name, stamp)
	},
	patch: func(i int) string { return fmt.Sprintf(`{"spec":{"field1":"red-%d"}}`, i) },
}

// provider is a workspace with an export whose schema has many fields.
type provider struct {
	cluster string
}

// virtualPath is the path of the provider's view of one consumer, or of all for "*".
func (p *provider) virtualPath(consumer string) string {
	return "/services/apiexport/" + p.cluster + "/" + gadgetsExport + "/clusters/" + consumer
}

// newProvider makes a workspace with an export and waits for its identity.
func (s *server) newProvider(ctx context.Context) (*provider, error) {
	cluster, err := s.workspace(ctx, "provider")
	if err != nil {
		return nil, err
	}
	base := "/clusters/" + cluster
	if _, err := s.admin.do(ctx, http.MethodPost, base+schemasPath, jsonType, gadgetSchema("v1", gadgetFields)); err != nil {
		return nil, err
	}
	export := fmt.Sprintf(`{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIExport","metadata":{"name":%q},"spec":{"resources":[
		{"name":"gadgets","group":"gadgets.example.com","schema":"v1.gadgets.gadgets.example.com"}]}}`, gadgetsExport)
	if _, err := s.admin.do(ctx, http.MethodPost, base+apisPath+"/apiexports", jsonType, []byte(export)); err != nil {
		return nil, err
	}
	return &provider{cluster: cluster}, s.waitIdentity(ctx, base+apisPath+"/apiexports/"+gadgetsExport)
}

func (s *server) waitIdentity(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, identityWait)
	defer cancel()
	poll := time.NewTicker(servedPoll)
	defer poll.Stop()
	for {
		export, err := s.admin.do(ctx, http.MethodGet, path, "", nil)
		if err != nil {
			return err
		}
		if bytes.Contains(export, []byte(`"identityHash":"`)) {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the identity of the export: %w", ctx.Err())
		}
	}
}

// swapSchema makes the export offer a schema with one more field.
func (s *server) swapSchema(ctx context.Context, p *provider) error {
	base := "/clusters/" + p.cluster
	if _, err := s.admin.do(ctx, http.MethodPost, base+schemasPath, jsonType, gadgetSchema("v2", gadgetFields+1)); err != nil {
		return err
	}
	patch := `{"spec":{"resources":[{"name":"gadgets","group":"gadgets.example.com","schema":"v2.gadgets.gadgets.example.com"}]}}`
	_, err := s.admin.do(ctx, http.MethodPatch, base+apisPath+"/apiexports/"+gadgetsExport, mergePatchType, []byte(patch))
	return err
}

// gadgetSchema returns an APIResourceSchema with many fields, with rules for some.
func gadgetSchema(prefix string, fields int) []byte {
	spec := map[string]any{"sent": map[string]any{"type": "string"}}
	for i := range fields {
		spec[fmt.Sprintf("field%d", i)] = map[string]any{
			"type": "string", "description": "One of many fields, with a sentence about it as real ones have.", "maxLength": 64,
		}
	}
	schema := map[string]any{
		"apiVersion": "apis.kcp.io/v1alpha1", "kind": "APIResourceSchema",
		"metadata": map[string]any{"name": prefix + ".gadgets.gadgets.example.com"},
		"spec": map[string]any{
			"group": "gadgets.example.com", "scope": "Cluster",
			"names": map[string]any{"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
			"versions": []any{map[string]any{
				"name": gadgetsVersion, "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec": map[string]any{
						"type": "object", "properties": spec,
						"x-kubernetes-validations": []any{map[string]any{
							"rule": "!has(self.field1) || self.field1 != 'forbidden'", "message": "not this one",
						}},
					},
					"status": map[string]any{"type": "object", "properties": map[string]any{"phase": map[string]any{"type": "string"}}},
				}},
			}},
		},
	}
	data, err := json.Marshal(schema)
	if err != nil {
		panic(err) // of maps and strings
	}
	return data
}

// binding returns an APIBinding to the export of p.
func (p *provider) binding() []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":%q},"spec":{"reference":{"export":{"path":%q,"name":%q}}}}`,
		gadgetsExport, p.cluster, gadgetsExport)
}

// clusterOfEvent returns the logical cluster of the object of a watch event.
func clusterOfEvent(event []byte) string {
	_, rest, _ := strings.Cut(string(event), `"kcp.io/cluster":"`)
	cluster, _, _ := strings.Cut(rest, `"`)
	return cluster
}
