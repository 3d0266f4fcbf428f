//go:build race

package model

// raceDetector says that times are not to be measured.
const raceDetector = true
