package logs

import "context"

type requestKey struct{}

// WithRequest returns ctx for work on behalf of the request of that id.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf returns the id of the request that ctx is for; empty if it is for none.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
