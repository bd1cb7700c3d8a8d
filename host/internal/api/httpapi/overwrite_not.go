//go:build !race && !overwrite

package httpapi

import "github.com/gofiber/fiber/v2"

// overwrite does nothing: see overwrite.go.
func overwrite(*fiber.Ctx) {}
