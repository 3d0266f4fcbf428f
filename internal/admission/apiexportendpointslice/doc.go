// Package apiexportendpointslice is the admission plugin for APIExportEndpointSlices: whoever
// makes one has to be allowed to bind the export whose addresses it will have.
package apiexportendpointslice
