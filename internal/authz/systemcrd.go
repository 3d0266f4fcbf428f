package authz

// systemStatuses are subresources that the server alone reads and writes: what it
// trusts stands in them.
var systemStatuses = map[string]bool{
	"apibindings/status": true,
	"apiexports/status":  true,
}

const apisGroup = "apis.kcp.io"

// systemCRD shields the statuses of bindings and exports from everybody, their admins
// included, with any verb.
func systemCRD(r *request) outcome {
	a := r.attributes
	if a.IsResourceRequest() && a.GetAPIGroup() == apisGroup && a.GetSubresource() != "" &&
		systemStatuses[a.GetResource()+"/"+a.GetSubresource()] {
		return deny("status is written by the server only")
	}
	return pass("no system CRD violation")
}
