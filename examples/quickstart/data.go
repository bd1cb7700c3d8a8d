// Package quickstart is the sample that `parley quickstart` serves: facts about
// 1,200 films and a question to ask of them.
package quickstart

import _ "embed"

// Movies is a JSON array of documents with the fields id, title, director,
// genre, year, minutes, rated, basis, distributor and imdb.
//
//go:embed movies.json
var Movies []byte

// Question is a chat request that the sample can answer.
//
//go:embed question.json
var Question []byte
