// A provider for servers that speak OpenAI's streaming API: text, tool calls,
// failures. It keeps nothing between calls; what a stream needs is its state.
#include "json.h"

enum { TEXT = 1, TOOL_START = 4, TOOL_ARGUMENTS = 5, FINISH = 6, ERROR = 8 }; // records
enum { LAST = 2 };                                                            // flag

// The state of a stream, as it travels.
static struct { u8 ended, calls, zero[2]; u32 argued; } state; // argued: bit i for call i

u64 EXPORT(parley_encode)(u32 len) {
  bytes in = value(input(len)), chat = get(in, "\"chat\""), settings = get(in, "\"settings\"");
  bytes base = inside(get(settings, "\"baseUrl\""), '"');
  if (!chat.n || *chat.p != '{') return declare(1, "encode input is no object with a chat in it");
  if (!base.n) return declare(2, "`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1");
  if (base.p[base.n - 1] == '/') base.n--;
  put_text("{\"url\":\"");
  put(base.p, base.n); // quoted as it came
  // Where the key goes says the manifest's auth: the host puts it in.
  put_text("/chat/completions\",\"headers\":{\"Content-Type\":\"application/json\"},\"framing\":\"sse\",\"body\":");
  put(chat.p, chat.n);
  put_text("}");
  return answer();
}

// failed ends the response with an error; message is a JSON string.
static void failed(bytes message) {
  u32 at = begin(ERROR);
  put_text("{\"kind\":\"upstream\",\"message\":");
  if (message.n && *message.p == '"') put(message.p, message.n);
  else put_text("\"the response ended early\"");
  put_text("}");
  end(at);
  state.ended = 1;
}

// tool takes a piece of a call. The first one names it.
static void tool(bytes piece) {
  bytes f = get(piece, "\"function\""), id = get(piece, "\"id\""), name = get(f, "\"name\""), arguments = get(f, "\"arguments\"");
  u32 i = number(get(piece, "\"index\""));
  if (i == state.calls && i < 32 && id.n > 2 && name.n > 2) {
    u32 at = begin(TOOL_START);
    put_u32(i);
    put_u32(0);
    u32 from = out;
    put_string(id);
    end(from);
    put_string(name);
    end(at);
    state.calls++;
  }
  if (i >= state.calls || arguments.n <= 2 || *arguments.p != '"') return;
  u32 at = begin(TOOL_ARGUMENTS);
  put_u32(i);
  put_string(arguments);
  end(at);
  state.argued |= 1u << i;
}

static void finish(bytes reason) {
  for (u32 i = 0; i < state.calls; i++) {
    if (state.argued >> i & 1) continue;
    u32 at = begin(TOOL_ARGUMENTS);
    put_u32(i);
    put_text("{}");
    end(at);
  }
  record(FINISH, is(reason, "\"length\"") ? "length" : is(reason, "\"tool_calls\"") ? "tool_calls" : is(reason, "\"content_filter\"") ? "content_filter" : "stop");
  state.ended = 1;
}

static void event(bytes data) {
  bytes item, of[2], said[2], part[2];
  pick(data, (const char *const[]){"\"error\"", "\"choices\""}, of);
  bytes error = of[0];
  if (error.n && !is(error, "null")) {
    bytes message = get(error, "\"message\"");
    failed(message.n ? message : error);
    return;
  }
  // Of the list of choices the first one counts.
  pick(inside(of[1], '['), (const char *const[]){"\"delta\"", "\"finish_reason\""}, said);
  pick(said[0], (const char *const[]){"\"content\"", "\"tool_calls\""}, part);
  bytes text = part[0], reason = said[1];
  if (text.n > 2 && *text.p == '"') {
    u32 at = begin(TEXT);
    put_string(text);
    end(at);
  }
  for (bytes calls = inside(part[1], '['); next(&calls, &item);) tool(item);
  if (reason.n && *reason.p == '"') finish(reason);
}

// cut takes u32 n and n bytes off the front of in.
static int cut(bytes *in, bytes *v) {
  u32 n;
  if (in->n < 4) return 0;
  __builtin_memcpy(&n, in->p, 4);
  if (n > in->n - 4) return 0;
  *v = (bytes){in->p + 4, n};
  *in = (bytes){in->p + 4 + n, in->n - 4 - n};
  return 1;
}

u64 EXPORT(parley_decode)(u32 len) {
  bytes in = input(len), before, type, data;
  if (!cut(&in, &before) || in.n < 8 || (before.n && before.n != sizeof state)) return declare(1, "decode input is malformed");
  __builtin_memset(&state, 0, sizeof state);
  if (before.n) __builtin_memcpy(&state, before.p, sizeof state);
  if (state.calls > 32) return declare(1, "the state is of another plugin");
  u8 flags = in.p[0];
  u32 count;
  __builtin_memcpy(&count, in.p + 4, 4);
  in = (bytes){in.p + 8, in.n - 8};

  put_u32(sizeof state); // the new state stands in front; it is filled in below
  put(&state, sizeof state);
  while (count-- && cut(&in, &type) && cut(&in, &data))
    if (!state.ended) event(data);
  if (flags & LAST && !state.ended) failed((bytes){in.p, 0});
  if (!wrong) __builtin_memcpy(output() + 4, &state, sizeof state);
  return answer();
}

u64 EXPORT(parley_error)(u32 len) {
  bytes in = value(input(len));
  u32 status = number(get(in, "\"status\"")), wait = number(inside(get(get(in, "\"headers\""), "\"retry-after\""), '"'));
  // The body is a text that mostly holds JSON: undo the one to read the other.
  put_string(get(in, "\"body\""));
  bytes error = get(value((bytes){output(), out}), "\"error\""), message = get(error, "\"message\"");
  if (!message.n) message = error;
  out = 0; // what follows is written over the body, but never past the message in it

  u8 kept[1024];
  u32 n = message.n && *message.p == '"' && message.n < sizeof kept ? message.n : 0;
  __builtin_memcpy(kept, message.p, n);
  put_text("{\"kind\":\"");
  put_text(status == 401 ? "auth" : status == 402 ? "quota" : status == 403 ? "permission" : status == 404 ? "not_found" : status == 429 ? "rate_limit"
      : status == 408 || status == 504 ? "timeout" : status == 503 || status == 529 ? "overloaded" : status >= 400 && status < 500 ? "invalid_request" : "upstream");
  put_text("\",\"message\":");
  if (n) put(kept, n); else put_text("\"\"");
  if (wait) {
    char digits[12], *d = digits + sizeof digits;
    *--d = 0;
    for (u64 ms = (u64)wait * 1000; ms; ms /= 10) *--d = '0' + ms % 10;
    put_text(",\"retry_after_ms\":");
    put_text(d);
  }
  put_text("}");
  return answer();
}
