// Package ephemeral tests "kcp run" by what it leaves behind: as many as there is room for
// at the same time, killed at any moment, without a network, and on disks that are full or
// cannot be written.
package ephemeral
