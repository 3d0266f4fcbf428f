//go:build !race

package machinery

// raceDetector says that times are not to be measured.
const raceDetector = false
