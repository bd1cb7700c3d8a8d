package chat

import (
	"context"

	"github.com/parley-search/parley/abi"
)

// canned is a Source whose Decode always answers the same.
type canned []byte

func (canned) Manifest() *abi.Manifest { return &abi.Manifest{} }

func (canned) Encode(context.Context, *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	return nil, nil
}

func (c canned) Decode(_ context.Context, _, dst []byte) ([]byte, error) {
	return append(dst, c...), nil
}

func (canned) Error(context.Context, *abi.ErrorRequest) (*abi.ProviderError, error) { return nil, nil }
