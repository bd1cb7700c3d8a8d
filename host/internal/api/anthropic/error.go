package anthropic

import (
	"net/http"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// errorTypes are the types of errors by their status.
var errorTypes = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusServiceUnavailable:    "overloaded_error",
	http.StatusGatewayTimeout:        "timeout_error",
}

// errorType is the type of an error with a status.
func errorType(status int) string {
	if typ := errorTypes[status]; typ != "" {
		return typ
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

// ErrorBody is the body of an answer that is an error. An id that is empty is left
// out.
func ErrorBody(status int, message, requestID string) []byte {
	b := append([]byte(nil), `{"type":"error","error":{"type":`...)
	b = rawjson.AppendString(b, errorType(status))
	b = rawjson.AppendString(append(b, `,"message":`...), message)
	b = append(b, '}')
	if requestID != "" {
		b = rawjson.AppendString(append(b, `,"request_id":`...), requestID)
	}
	return append(b, '}')
}
