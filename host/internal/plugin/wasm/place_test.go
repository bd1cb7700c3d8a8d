package wasm

import (
	"errors"
	"testing"
)

func TestFindPlace(t *testing.T) {
	const panicked = "panic: runtime error: index out of range [7] with length 5\n\ngoroutine 1 [running]:\n"
	const sdk = "github.com/parley-search/parley/sdk/provider.(*guest[...]).decode(0x29060, {})\n\tgithub.com/parley-search/parley@v0.0.0/sdk/provider/guest.go:178 +0x7\n"
	const own = "example.com/boom.(*plugin).Decode({0x254014, 0x5}, ...)\n\texample.com/boom/provider.go:53 +0x4\n"
	for _, tt := range []struct{ name, output, err, want string }{
		{"nothing known", "", "wasm error: unreachable", ""},
		{"a panic of Go", panicked + "runtime.throw({0x2, 0xd})\n\truntime/panic.go:1229 +0x3\n" + own + sdk, "", "boom.(*plugin).Decode (example.com/boom/provider.go:53)"},
		{"in the SDK, called by the plugin", panicked + sdk + own, "", "boom.(*plugin).Decode (example.com/boom/provider.go:53)"},
		{"in the SDK alone", panicked + sdk, "", "provider.(*guest[...]).decode (github.com/parley-search/parley@v0.0.0/sdk/provider/guest.go:178)"},
		{"a panic without a stack", "panic: no\n", "wasm error: unreachable\nwasm stack trace:\n\t.runtime.abort(i32) i32\n\t.main.index(i32) i32", "main.index"},
		{"a loop", "", "the call is over its deadline (recovered by wazero)\nwasm stack trace:\n\tparley.meter.yield(i32,i32) i32\n\t.main.spin(i32) i32\n\t.parley_decode(i32) i64", "main.spin"},
		{"lines of the source", "", "wasm error: unreachable\nwasm stack trace:\n\t.decode(i32) i64\n\t\t0x1a2: /src/lib.rs:12:3", "decode (0x1a2: /src/lib.rs:12:3)"},
		{"no names", "", "wasm error: unreachable\nwasm stack trace:\n\t.$1228(i32) i32", "function 1228, whose name the module does not have"},
		{"cut off", panicked + "main.x(", "", ""},
	} {
		if got := findPlace(tt.output, errors.New(tt.err)); got != tt.want {
			t.Errorf("%s: place = %q, want %q", tt.name, got, tt.want)
		}
	}
}
