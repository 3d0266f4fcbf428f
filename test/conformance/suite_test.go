package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	testdata "k8s.io/kubernetes/test/conformance/testdata"
	"k8s.io/kubernetes/test/e2e/framework"
	e2econfig "k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"

	// The tests themselves.
	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/auth"
	_ "k8s.io/kubernetes/test/e2e/instrumentation"
)

// packages are the folders of upstream's tests that are run here. They import others,
// whose tests come along and are not meant.
var packages = []string{"apimachinery/", "auth/", "instrumentation/"}

// upstreamFolder precedes the name of a test's file, wherever the module cache is.
const upstreamFolder = "/test/e2e/"

// all are the tests of the packages, in the order of their files.
var all []spec

// spec is one of upstream's tests.
type spec struct {
	// File is its file, from test/e2e of Kubernetes on.
	File string
	Line int
	// Name is unique.
	Name string
	// Conformance is whether a cluster must pass it to call itself conformant.
	Conformance bool
}

func TestMain(m *testing.M) {
	e2econfig.CopyFlags(e2econfig.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()

	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(testdata.GetConformanceTestdataFS())
	configure(&framework.TestContext)
	framework.AfterReadingAllFlags(&framework.TestContext)
	hurry()

	var err error
	if all, err = list(ginkgo.PreviewSpecs("")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// configure sets what is special about a cluster without nodes.
func configure(context *framework.TestContextType) {
	context.Provider = "skeleton"
	// It would look for nodes and pods.
	context.DumpLogsOnFailure = false
	context.KubectlPath = os.Getenv("KUBECTL_BINARY")
	// The framework's client waits longer than most tests take.
	framework.NewFrameworkExtensions = append(framework.NewFrameworkExtensions, func(f *framework.Framework) {
		f.Options.ClientQPS, f.Options.ClientBurst = 500, 1000
	})
}

// hurry replaces timeouts that are meant for pods: what happens here happens at once,
// and what has not happened after a minute never will.
func hurry() {
	gomega.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	gomega.SetDefaultEventuallyTimeout(time.Minute)
}

// list picks the tests of the packages from the report of a dry run.
func list(report ginkgo.Report) ([]spec, error) {
	var specs []spec
	seen := map[string]bool{}
	for _, preview := range report.SpecReports {
		if preview.LeafNodeType != types.NodeTypeIt {
			continue
		}
		_, file, _ := strings.Cut(preview.LeafNodeLocation.FileName, upstreamFolder)
		if !slices.ContainsFunc(packages, func(folder string) bool { return strings.HasPrefix(file, folder) }) {
			continue
		}
		name := preview.FullText()
		if seen[name] {
			return nil, fmt.Errorf("two tests are called %q", name)
		}
		seen[name] = true
		specs = append(specs, spec{
			File:        file,
			Line:        preview.LeafNodeLocation.LineNumber,
			Name:        name,
			Conformance: slices.Contains(preview.Labels(), "Conformance"),
		})
	}
	slices.SortFunc(specs, func(a, b spec) int {
		// Tests that are made in a loop are on the same line.
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Name, b.Name))
	})
	return specs, nil
}
