// Package switching is going to another workspace: finding out that it is there,
// writing the kubeconfig, and saying where one is now and what is wrong with the API
// bindings there. The commands that can end in another workspace share it.
package switching
