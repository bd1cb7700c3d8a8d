package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestParts: what a user shows, as Converse has it.
func TestParts(t *testing.T) {
	for _, tt := range []struct{ name, part, want, refused string }{
		{"image", `{"type":"image_url","image_url":{"url":"data:image/jpg;base64,QUJD"}}`, `{"image":{"format":"jpeg","source":{"bytes":"QUJD"}}}`, ""},
		{"document", `{"type":"file","file":{"filename":"a_b.pdf","file_data":"data:application/pdf;base64,QUJD"}}`, `{"document":{"format":"pdf","name":"a b","source":{"bytes":"QUJD"}}}`, ""},
		{"video", `{"type":"file","file":{"filename":"a.mp4","file_data":"QUJD"}}`, `{"video":{"format":"mp4","source":{"bytes":"QUJD"}}}`, ""},
		{"image in a bucket", `{"type":"image_url","image_url":{"url":"s3://b/a.png"}}`, `{"image":{"format":"png","source":{"s3Location":{"uri":"s3://b/a.png"}}}}`, ""},
		{"video in a bucket", `{"type":"file","file":{"file_data":"s3://b/a.mov"}}`, `{"video":{"format":"mov","source":{"s3Location":{"uri":"s3://b/a.mov"}}}}`, ""},
		{"elsewhere", `{"type":"image_url","image_url":{"url":"https://h.example/a.png"}}`, "", "Bedrock fetches from s3:// alone"},
		{"sound", `{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}`, "", "content[0].type` is none that Bedrock can be given"},
		{"a video as an image", `{"type":"image_url","image_url":{"url":"data:video/mp4;base64,QUJD"}}`, "", "of a type that Bedrock does not take"},
	} {
		r, err := plugintest.New(&bedrock{}).Encode(abi.EncodeRequest{
			Options: map[string]abi.RawJSON{"region": abi.RawJSON(`"us-east-1"`), "apiKey": abi.RawJSON("true")},
			Chat:    abi.RawJSON(`{"model":"m","messages":[{"role":"user","content":[` + tt.part + `,{"type":"text","text":"?"}]}]}`),
		})
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want it refused with %q", tt.name, err, tt.refused)
			}
			continue
		}
		if err != nil || !strings.Contains(string(r.Body), tt.want) {
			t.Errorf("%s: body %s, %v\nwant %s in it", tt.name, r.Body, err, tt.want)
		}
	}
}
