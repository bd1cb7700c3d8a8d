//go:build !race

package sysinfo

const raceDetector = false
