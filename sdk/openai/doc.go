// Package openai is what providers of OpenAI's shape share: the body of a
// request and edits on it, the decoder of the stream, the sorting of errors.
// A plugin for such a provider shows what is special about it and takes the
// rest from here.
package openai
