package registry

import (
	"context"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// discard takes what is pushed and forgets it.
type discard struct{}

func (discard) Push(_ context.Context, _ ocispec.Descriptor, content io.Reader) error {
	_, err := io.Copy(io.Discard, content)
	return err
}
