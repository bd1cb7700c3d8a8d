package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/secret"
)

func TestOuter(t *testing.T) {
	outer := func(object string) []byte { return abi.AppendRecord(nil, abi.RecordOuter, object) }
	text := func(s string) []byte { return abi.AppendRecord(nil, abi.RecordText, s) }
	big := `"` + strings.Repeat("x", maxStanding) + `"`
	tests := []struct {
		name    string
		records [][]byte
		want    []string // in each chunk, in turn
		not     string
	}{
		{
			"of the chunk: in each",
			[][]byte{outer(`{"chunk":{"service_tier":"flex"}}`), text("a"), text("b")},
			[]string{`"service_tier":"flex","choices":`, `"service_tier":"flex","choices":`, `"service_tier":"flex","choices":`, `"service_tier":"flex","choices":[],"usage"`},
			"",
		},
		{
			"of the choice: in the next",
			[][]byte{outer(`{"choice":{"logprobs":{"content":[1]},"x":2}}`), text("a"), text("b")},
			[]string{`"content":"a"},"logprobs":{"content":[1]},"x":2,"finish_reason":null}]}`, `"content":"b"},"finish_reason":null}]}`, `"finish_reason":"stop"`, `"usage"`},
			"",
		},
		{
			"two choices without a delta",
			[][]byte{outer(`{"choice":{"x":1}}`), outer(`{"choice":{"x":2}}`)},
			[]string{`"content":""},"x":1,`, `},"x":2,"finish_reason":"stop"`, `"usage"`},
			"",
		},
		{
			"others in their place",
			[][]byte{outer(`{"chunk":{"citations":["a"]}}`), text("a"), outer("{\"chunk\":{\"citations\":[\n\"b\"]}}"), text("b")},
			[]string{`"citations":["a"]`, `"citations":[ "b"]`, `"citations":[ "b"]`, `"citations":[ "b"]`},
			"",
		},
		{
			"the host's own",
			[][]byte{outer(`{"chunk":{"id":"x","\u0069d":"x","choices":"x","error":{"x":1},"usage":null},"choice":{"finish_reason":"x","delta":"x","index":"x","message":"x"}}`), text("a")},
			[]string{`"content":"a"},"finish_reason":null`, `"finish_reason":"stop"`, `"usage"`},
			`"x"`,
		},
		{
			"large: in the next alone",
			[][]byte{outer(`{"chunk":{"big":` + big + `}}`), text("a"), text("b")},
			[]string{big, `"content":"b"`, `"stop"`, `"usage"`},
			"",
		},
		{"with the key", [][]byte{outer(`{"chunk":{"k":"sk-of-a-provider-1"}}`), text("a")}, []string{`"content":"a"`, `"stop"`, `"usage"`}, "sk-of"},
		{"empty", [][]byte{outer(`{"chunk":{},"choice":{}}`), outer(`{}`), outer(`{"chunk":1,"choice":[]}`), text("a")}, []string{`"content":"a"`, `"stop"`, `"usage"`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAnswer()
			a.noKey = secret.NewWholeScrubber(shortestSecret, "sk-of-a-provider-1")
			for _, r := range tt.records {
				if err := a.play(r); err != nil {
					t.Fatal(err)
				}
			}
			a.render.finish("stop")
			a.render.usage(abi.Usage{}, false)
			frames := strings.Split(strings.TrimSuffix(string(a.render.out), "\n\n"), "\n\n")
			if len(frames) != len(tt.want) || tt.not != "" && strings.Contains(string(a.render.out), tt.not) {
				t.Fatalf("frames\n%s\nwant %d, and %q not in them", a.render.out, len(tt.want), tt.not)
			}
			for i, frame := range frames {
				if !json.Valid([]byte(strings.TrimPrefix(frame, "data: "))) || strings.Count(frame, "\n") > 0 || !strings.Contains(frame, tt.want[i]) {
					t.Errorf("frame %d is %s, want JSON on one line with %s", i, frame, tt.want[i])
				}
				if i > 0 && len(frame) > maxStanding {
					t.Errorf("frame %d has %d bytes", i, len(frame))
				}
			}
		})
	}
	for _, bad := range []string{"[]", "1", `{"chunk":`, "null"} {
		a := newAnswer()
		a.ctx, a.manifest, a.workspace = t.Context(), &abi.Manifest{}, &workspace.Workspace{}
		if err := a.play(outer(bad)); err == nil {
			t.Errorf("the outer record %s was taken", bad)
		}
	}
}
