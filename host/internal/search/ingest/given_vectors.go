package ingest

import (
	"bytes"
	"fmt"

	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// GivenVectors are what a document brings for one embedder.
type GivenVectors struct {
	none       bool // null: the document is not to have any
	Regenerate bool // the embedder is to make them, when the document changes
	Vectors    [][]float32
}

// takeVectors takes the vectors out of a document; given is nil where it brings
// none. A mistake is an [apierr.Error] without its place.
func takeVectors(doc []byte) (rest []byte, given map[string]*GivenVectors, err error) {
	if !bytes.Contains(doc, []byte(vector.Field)) {
		return doc, nil, nil
	}
	var raw []byte
	rest = append(make([]byte, 0, len(doc)), '{')
	rawjson.EachMember(doc, func(key, v []byte) bool {
		if rawjson.Unquote(key) == vector.Field {
			raw = v
			return true
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, key...), ':'), v...)
		return true
	})
	rest = append(rest, '}')
	if raw == nil || raw[0] == 'n' {
		return rest, nil, nil
	}
	if raw[0] != '{' {
		return nil, nil, apierr.Newf(indexerr.InvalidVectorsType, "its `%s` is %s; expected an object of vectors by embedder", vector.Field, rawjson.KindOf(raw))
	}
	given = map[string]*GivenVectors{}
	rawjson.EachMember(raw, func(key, v []byte) bool {
		name := rawjson.Unquote(key)
		if name == "" || len(name) > settings.MaxName {
			err = apierr.Newf(indexerr.InvalidVectorsType, "its `%s` has the key %.100q, which is no embedder's name", vector.Field, name)
			return false
		}
		given[name], err = readGiven(name, v)
		return err == nil
	})
	return rest, given, err
}

// readGiven reads what stands beside one embedder's name: null, a vector, a
// list of them, or an object {embeddings, regenerate}.
func readGiven(name string, v []byte) (*GivenVectors, error) {
	place := fmt.Sprintf("%s.%.100s", vector.Field, name)
	switch v[0] {
	case 'n':
		return &GivenVectors{none: true}, nil
	case '[':
		vs, err := readVectors(place, v)
		return &GivenVectors{Vectors: vs}, err
	case '{':
	default:
		return nil, apierr.Newf(indexerr.InvalidVectorsType, "its `%s` is %s; expected a vector, a list of vectors, or an object with `regenerate`", place, rawjson.KindOf(v))
	}
	var g GivenVectors
	var err error
	regenerates := false
	rawjson.EachMember(v, func(key, v []byte) bool {
		switch k := rawjson.Unquote(key); {
		case k == "embeddings" && v[0] == 'n':
		case k == "embeddings":
			g.Vectors, err = readVectors(place+".embeddings", v)
		case k == "regenerate" && (v[0] == 't' || v[0] == 'f'):
			g.Regenerate, regenerates = v[0] == 't', true
		case k == "regenerate":
			err = apierr.Newf(indexerr.InvalidVectorsType, "its `%s.regenerate` is %s; expected true or false", place, rawjson.KindOf(v))
		default:
			err = apierr.Newf(indexerr.InvalidVectorsType, "its `%s` has the unknown field `%.100s`; known are `embeddings` and `regenerate`", place, k)
		}
		return err == nil
	})
	if err == nil && !regenerates {
		err = apierr.Newf(indexerr.InvalidVectorsType, "its `%s` has no `regenerate`: send true to have its vectors made by the embedder, false to give them yourself", place)
	}
	return &g, err
}

// readVectors reads an array of numbers, or an array of such arrays.
func readVectors(place string, v []byte) (list [][]float32, err error) {
	if v[0] != '[' {
		return nil, apierr.Newf(indexerr.InvalidVectorsType, "its `%s` is %s; expected an array", place, rawjson.KindOf(v))
	}
	first := bytes.TrimSpace(v[1:])[0]
	if first == ']' {
		return nil, nil
	}
	if first != '[' {
		vec, err := readVector(place, v)
		return [][]float32{vec}, err
	}
	rawjson.EachElement(v, func(e []byte) bool {
		if len(list) == vector.MaxVectors {
			err = apierr.Newf(indexerr.TooManyVectors, "its `%s` has more than %d vectors", place, vector.MaxVectors)
			return false
		}
		var vec []float32
		vec, err = readVector(fmt.Sprintf("%s[%d]", place, len(list)), e)
		list = append(list, vec)
		return err == nil
	})
	return list, err
}

func readVector(place string, v []byte) ([]float32, error) {
	vec, err := answer.Vector([]byte(v))
	if err != nil {
		return nil, apierr.Newf(indexerr.InvalidVectorsType, "its `%s` %s", place, err)
	}
	return vec, nil
}
