# What there is to do with this repository. Everything needs Go and make only; other
# tools are built from the versions that tools/go.mod pins.

GO ?= go
BIN := bin
TOOLS := $(BIN)/tools
CONTROLLER_GEN := $(TOOLS)/controller-gen
GOLANGCI_LINT := $(TOOLS)/golangci-lint
GORELEASER := $(TOOLS)/goreleaser

# The race detector needs cgo, which Go turns off by itself where there is no C compiler.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
TEST_TIMEOUT ?= 20m
LONG_TIMEOUT ?= 90m

# Binaries say which Kubernetes they are made of and which kcp they are, in the form of a
# Kubernetes version, because clients parse it: v1.36.3+kcp-v0.1.0.
VERSION ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo v0.0.0-$$(git rev-parse --verify --quiet --short HEAD 2>/dev/null || echo unknown))
COMMIT ?= $(shell git rev-parse --verify --quiet HEAD 2>/dev/null || echo unknown)
KUBERNETES_VERSION = $(shell $(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)
VERSION_FLAGS = $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version,\
	-X $(package).gitVersion=$(KUBERNETES_VERSION)+kcp-$(VERSION) -X $(package).gitCommit=$(COMMIT))

# -buildvcs=false, because the version is stamped above, and because Go refuses to build
# where git does not trust the owner of the checkout.
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-s -w $(VERSION_FLAGS)'

PLUGINS := $(wildcard cmd/kubectl-*)
PLUGIN_PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
SERVER_PLATFORMS := $(PLUGIN_PLATFORMS)

.DEFAULT_GOAL := build
.PHONY: build test test-all test-long test-conformance test-envtest cross release-kubectl bench bench-packages bench-envtest lint generate verify-generate release release-snapshot verify-release clean help

build: ## build all binaries into bin/
	$(BUILD) -o $(BIN)/ ./cmd/...

test: ## run the tests
	$(if $(RACE),,@echo "no C compiler, so the race detector is off")
	$(GO) test $(RACE) -timeout $(TEST_TIMEOUT) ./...

test-all: test test-long test-conformance test-envtest cross verify-release ## run everything: tests, long suites, upstream's tests, cross-compilation, releases

# Suites that take minutes look at this variable; without it they skip themselves.
test-long: ## run the suites that take minutes
	KCP_TEST_LONG=1 $(GO) test $(RACE) -count=1 -timeout $(LONG_TIMEOUT) ./...

# Upstream's tests are a module of their own, which no other target looks at: compiling
# them takes minutes. They drive a kubectl of the version they are from.
FOCUS ?=
test-conformance: build ## run upstream's tests in workspaces, and write docs/conformance.md; FOCUS picks some, and writes nothing
	$(BUILD) -o $(BIN)/test/ k8s.io/kubernetes/cmd/kubectl
	KCP_BINARY=$(CURDIR)/$(BIN)/kcp KUBECTL_BINARY=$(CURDIR)/$(BIN)/test/kubectl KCP_CONFORMANCE_FOCUS='$(FOCUS)' \
		CGO_ENABLED=0 $(GO) test -C test/conformance -count=1 -timeout $(LONG_TIMEOUT) ./...

# controller-runtime's own tests, from its module, at the version that test/envtest pins. They
# must not be cached: what they start is no input that Go knows of.
ENVTEST_SUITES := builder cache client client/apiutil cluster controller/... envtest handler internal/controller \
	internal/recorder manager manager/internal/integration metrics/filters reconcile source webhook
# These download a kube-apiserver of an old version, whatever they are given.
ENVTEST_SKIP := /aggregatedDiscovery=false
test-envtest: build $(BIN)/libexec/kubectl ## run controller-runtime's tests with kcp in place of kube-apiserver and etcd
	KUBEBUILDER_ASSETS=$$($(BIN)/kcp envtest-assets $(BIN)/envtest) \
		$(GO) test -C test/envtest -vet=off -p 1 -count=1 -skip '$(ENVTEST_SKIP)' -timeout $(LONG_TIMEOUT) . $(ENVTEST_SUITES:%=sigs.k8s.io/controller-runtime/pkg/%)

# The programs that envtest downloads, beside ours in one run. They are tools of a module of
# their own, as they bring what no other target needs.
bench-envtest: build $(BIN)/libexec/kubectl ## measure envtest's start with kcp, and with Kubernetes's own programs
	CGO_ENABLED=0 $(GO) build -C tools/kubernetes -buildvcs=false -ldflags '-s -w' -o ../../$(BIN)/envtest-kubernetes/ k8s.io/kubernetes/cmd/kube-apiserver
	CGO_ENABLED=0 $(GO) build -C tools/kubernetes -buildvcs=false -ldflags '-s -w' -o ../../$(BIN)/envtest-kubernetes/etcd go.etcd.io/etcd/server/v3
	KUBEBUILDER_ASSETS=$$($(BIN)/kcp envtest-assets $(BIN)/envtest) KUBERNETES_ASSETS=$(CURDIR)/$(BIN)/envtest-kubernetes \
		$(GO) test -C test/envtest -count=1 -v -run TestStart .

# The kubectl of the same version, which "kcp envtest-assets" lays out.
$(BIN)/libexec/kubectl: go.mod
	$(BUILD) -o $@ k8s.io/kubernetes/cmd/kubectl

# The same for each platform that releases of kcp are for, where goreleaser.yaml looks for it.
release-kubectl: $(filter-out release-kubectl/windows/%,$(SERVER_PLATFORMS:%=release-kubectl/%))

release-kubectl/%:
	GOOS=$(*D) GOARCH=$(*F) CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false \
		-ldflags '-s -w -buildid= $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version,-X $(package).gitVersion=$(KUBERNETES_VERSION))' \
		-o $(BIN)/release-kubectl/$(*D)_$(*F)/kubectl k8s.io/kubernetes/cmd/kubectl

cross: $(PLUGIN_PLATFORMS:%=cross-plugins/%) $(SERVER_PLATFORMS:%=cross-kcp/%) ## compile for all platforms, without cgo

cross-plugins/%:
	GOOS=$(*D) GOARCH=$(*F) $(BUILD) -o $(BIN)/cross/$(*D)-$(*F)/ $(PLUGINS:%=./%)

cross-kcp/%:
	GOOS=$(*D) GOARCH=$(*F) $(BUILD) -o $(BIN)/cross/$(*D)-$(*F)/ ./cmd/kcp

BENCH ?= .
bench: build ## measure the binaries; BENCH is a regular expression of what
	$(GO) run ./hack/bench -only '$(BENCH)'

bench-packages: ## run the benchmarks of the packages; BENCH is a regular expression of which
	$(GO) test -run '^$$' -bench '$(BENCH)' -timeout $(LONG_TIMEOUT) ./...

lint: $(GOLANGCI_LINT) ## check style, common mistakes and import rules
	CGO_ENABLED=0 $(GOLANGCI_LINT) run ./...

generate: $(CONTROLLER_GEN) ## write generated code, definitions and pages
	rm -rf $(BIN)/crds
	$(CONTROLLER_GEN) object crd:crdVersions=v1 paths=./pkg/apis/... output:crd:dir=$(BIN)/crds
	CGO_ENABLED=0 $(GO) run ./hack/crdnames $(BIN)/crds config/crds
	CGO_ENABLED=0 $(GO) run ./hack/docs -markdown docs/cli
	CGO_ENABLED=0 $(GO) run ./hack/krewcheck -write plugins

verify-generate: ## fail if generated files are not what generate writes
	hack/verify-generate

# What goreleaser.yaml takes from outside. The time is in UTC, so that two machines agree.
RELEASE_TIMEOUT ?= 3h
# Linking kcp takes gigabytes, so platforms are made one after the other.
RELEASE_PARALLELISM ?= 1
export RELEASE_PARALLELISM
RELEASE_ENV = KUBERNETES_VERSION=$(KUBERNETES_VERSION) RELEASE_COMMIT=$(COMMIT) \
	RELEASE_DATE=$(shell TZ=UTC git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD) \
	RELEASE_TIMESTAMP=$(shell git show -s --format=%ct HEAD)

release: $(GORELEASER) ## make a release of the tag that is checked out, as a draft
	$(RELEASE_ENV) $(GORELEASER) release --clean --timeout $(RELEASE_TIMEOUT)

release-snapshot: $(GORELEASER) ## make the archives of a release in bin/release, and publish nothing
	$(GORELEASER) check
	$(RELEASE_ENV) $(GORELEASER) release --snapshot --clean --parallelism $(RELEASE_PARALLELISM) --timeout $(RELEASE_TIMEOUT)

# What goes wrong on one platform goes wrong on the others, and each takes long: "all" is for
# those who have the time.
RELEASE_PLATFORMS ?= linux/amd64
verify-release: $(GORELEASER) ## make a release of the last commit twice, and fail if the two differ; RELEASE_PLATFORMS are the platforms, or all
	$(RELEASE_ENV) hack/verify-release $(CURDIR)/$(GORELEASER) '$(RELEASE_PLATFORMS)'

clean: ## remove what was built
	rm -rf $(BIN)

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

$(CONTROLLER_GEN): tools/go.mod tools/go.sum
	$(GO) build -C tools -buildvcs=false -o ../$@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOLANGCI_LINT): tools/go.mod tools/go.sum
	$(GO) build -C tools -buildvcs=false -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# A module of its own, so that nobody who wants to lint compiles clients of every service
# that releases can be put on.
$(GORELEASER): tools/release/go.mod tools/release/go.sum
	$(GO) build -C tools/release -buildvcs=false -o ../../$@ github.com/goreleaser/goreleaser/v2
