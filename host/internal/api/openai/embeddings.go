package openai

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// An EmbeddingRequest is a request for vectors.
type EmbeddingRequest struct {
	Model      string // as the client named it
	Texts      []string
	Dimensions int    // how many numbers each is to have; 0: it does not say
	InputType  string // abi.InputDocument or abi.InputQuery
	base64     bool
}

// mostTexts is how many texts OpenAI takes in one request.
const mostTexts = 2048

// ParseEmbedding reads the body of a request for vectors. The error is an [*Error].
func ParseEmbedding(body []byte) (*EmbeddingRequest, error) {
	fields, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := &EmbeddingRequest{InputType: abi.InputDocument}
	if r.Model, err = parseModel(fields["model"]); err != nil {
		return nil, err
	}
	if err := r.parseInput(fields["input"]); err != nil {
		return nil, err
	}
	if v := fields["dimensions"]; !rawjson.IsAbsent(v) {
		if r.Dimensions, err = strconv.Atoi(strings.TrimSpace(string(v))); err != nil || r.Dimensions < 1 {
			return nil, refuse("invalid_value", "dimensions", "`dimensions` must be an integer from 1 on, or left out.")
		}
	}
	switch format, ok := rawjson.String(fields["encoding_format"]); {
	case format == "base64":
		r.base64 = true
	case !rawjson.IsAbsent(fields["encoding_format"]) && (!ok || format != "float"):
		return nil, refuse("invalid_value", "encoding_format", "`encoding_format` must be float or base64.")
	}
	switch typ, ok := rawjson.String(fields["input_type"]); {
	case typ == abi.InputQuery:
		r.InputType = typ
	case !rawjson.IsAbsent(fields["input_type"]) && (!ok || typ != abi.InputDocument):
		return nil, refuse("invalid_value", "input_type", "`input_type` must be document or query.")
	}
	return r, nil
}

func (r *EmbeddingRequest) parseInput(v []byte) error {
	if rawjson.IsAbsent(v) {
		return refuse("missing_required_parameter", "input", "`input` is missing: send a text, or an array of texts.")
	}
	if text, ok := rawjson.String(v); ok {
		r.Texts = []string{text}
	} else if items, ok := rawjson.Items(v); ok {
		for i, item := range items {
			text, ok := rawjson.String(item)
			if !ok {
				return refuse("invalid_type", "input", fmt.Sprintf("`input[%d]` must be a text, not %s: arrays of tokens are another model's words. "+
					"Send the texts themselves (LangChain: check_embedding_ctx_length=False).", i, rawjson.KindOf(item)))
			}
			r.Texts = append(r.Texts, text)
		}
	} else {
		return wrongType("input", "a string or an array of strings", v)
	}
	for i, text := range r.Texts {
		if text == "" {
			return refuse("invalid_value", "input", fmt.Sprintf("`input[%d]` is empty: leave it out.", i))
		}
	}
	if n := len(r.Texts); n == 0 || n > mostTexts {
		return refuse("invalid_value", "input", fmt.Sprintf("`input` has %d texts: send 1 to %d.", n, mostTexts))
	}
	return nil
}

// Tokens is an estimate of how many tokens the texts have.
func (r *EmbeddingRequest) Tokens() int64 {
	size := 0
	for _, text := range r.Texts {
		size += len(text)
	}
	return int64(size+3) / 4
}

// Body is the answer with a vector of each text.
func (r *EmbeddingRequest) Body(vectors [][]float32) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, vector := range vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"object":"embedding","index":`...), int64(i), 10)
		b = append(b, `,"embedding":`...)
		if r.base64 {
			b = append(b, '"')
			b = append(base64.StdEncoding.AppendEncode(b, littleEndian(vector)), '"')
		} else {
			for j, x := range vector {
				b = strconv.AppendFloat(append(b, "[,"[min(j, 1)]), float64(x), 'g', -1, 32)
			}
			b = append(b, ']')
		}
		b = append(b, '}')
	}
	b = rawjson.AppendString(append(b, `],"model":`...), r.Model)
	n := r.Tokens()
	return fmt.Appendf(b, `,"usage":{"prompt_tokens":%d,"total_tokens":%d,"estimated":true}}`, n, n)
}

func littleEndian(vector []float32) []byte {
	b := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
