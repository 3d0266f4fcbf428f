// Package plugins tests what holds for all commands of the kubectl plugins: what they
// print on which display, how they fail, which requests they may make, and what they do
// to a kubeconfig that others use as well.
//
// The commands are found by walking the trees of the plugins, so that a new one is
// covered without a line here. What it does with good arguments is seen if samples has an
// entry for it; without one it is called with arguments that mean nothing.
package plugins
