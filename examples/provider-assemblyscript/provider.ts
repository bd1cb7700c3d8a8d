// A provider for servers that speak OpenAI's streaming API: text, tool calls,
// failures. It keeps nothing between calls; what a stream needs is its state.
import { Bytes, bytes, at, size, input, output, written, put, putByte, putU32, putText, begin, end, record, answer, declare } from "./parley";
import { value, behind, is, get, pick, one, other, inside, isString, text, number, putString, BRACE, BRACKET } from "./json";
export { parley_abi, parley_input } from "./parley";

const TEXT: u32 = 1, TOOL_START: u32 = 4, TOOL_ARGUMENTS: u32 = 5, FINISH: u32 = 6, ERROR: u32 = 8; // records
const LAST: u32 = 2; // flag

// The state of a stream travels as three numbers.
let ended: u32 = 0;
let calls: u32 = 0;
let argued: u32 = 0; // bit i for call i

export function parley_encode(n: u32): u64 {
  const whole = value(input(n)), chat = get(whole, '"chat"'), settings = get(whole, '"settings"');
  let base = text(get(settings, '"baseUrl"'));
  if (!size(inside(chat, BRACE)) && !is(chat, "{}")) return declare(1, "encode input is no object with a chat in it");
  if (!size(base)) return declare(2, "`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1");
  if (load<u8>(at(base) + size(base) - 1) == 0x2f) base--; // one byte less, of a slash
  putText('{"url":"');
  put(base); // quoted as it came
  // Where the key goes says the manifest's auth: the host puts it in.
  putText('/chat/completions","headers":{"Content-Type":"application/json"},"framing":"sse","body":');
  put(chat);
  putText("}");
  return answer();
}

// failed ends the response with an error; message is a JSON string.
function failed(message: Bytes): void {
  const from = begin(ERROR);
  putText('{"kind":"upstream","message":');
  if (isString(message)) put(message);
  else putText('"the response ended early"');
  putText("}");
  end(from);
  ended = 1;
}

// tool takes a piece of a call. The first one names it.
function tool(piece: Bytes): void {
  const f = get(piece, '"function"'), id = get(piece, '"id"'), name = get(f, '"name"'), args = get(f, '"arguments"');
  const i = number(get(piece, '"index"'));
  if (i == calls && i < 32 && size(id) > 2 && size(name) > 2) {
    const from = begin(TOOL_START);
    putU32(i);
    putU32(0);
    const start = written();
    putString(id);
    end(start);
    putString(name);
    end(from);
    calls++;
  }
  if (i >= calls || size(args) <= 2 || !isString(args)) return;
  const from = begin(TOOL_ARGUMENTS);
  putU32(i);
  putString(args);
  end(from);
  argued |= 1 << i;
}

function finish(reason: Bytes): void {
  for (let i: u32 = 0; i < calls; i++) {
    if ((argued >> i) & 1) continue;
    const from = begin(TOOL_ARGUMENTS);
    putU32(i);
    putText("{}");
    end(from);
  }
  record(FINISH, is(reason, '"length"') ? "length" : is(reason, '"tool_calls"') ? "tool_calls" : is(reason, '"content_filter"') ? "content_filter" : "stop");
  ended = 1;
}

function event(data: Bytes): void {
  pick(data, '"error"', '"choices"');
  const error = one, choices = other;
  if (size(error) && !is(error, "null")) {
    const message = get(error, '"message"');
    failed(size(message) ? message : error);
    return;
  }
  // Of the list of choices the first one counts.
  pick(inside(choices, BRACKET), '"delta"', '"finish_reason"');
  const delta = one, reason = other;
  pick(delta, '"content"', '"tool_calls"');
  const content = one, pieces = other;
  if (size(content) > 2 && isString(content)) {
    const from = begin(TEXT);
    putString(content);
    end(from);
  }
  let rest = inside(pieces, BRACKET);
  for (let item = value(rest); size(item); item = value(rest)) {
    tool(item);
    rest = behind(rest, item);
  }
  if (isString(reason)) finish(reason);
}

// part is u32 n and n bytes at the front of b, without the n. An address of 0
// says that they are not there.
function part(b: Bytes): Bytes {
  if (size(b) < 4) return 0;
  const n = load<u32>(at(b));
  return n > size(b) - 4 ? 0 : bytes(at(b) + 4, n);
}

export function parley_decode(n: u32): u64 {
  let b = input(n);
  const before = part(b);
  if (!at(before)) return declare(1, "decode input is malformed");
  b = behind(b, before);
  if (size(b) < 8 || (size(before) && size(before) != 12)) return declare(1, "decode input is malformed");
  ended = size(before) ? load<u32>(at(before)) : 0;
  calls = size(before) ? load<u32>(at(before) + 4) : 0;
  argued = size(before) ? load<u32>(at(before) + 8) : 0;
  if (calls > 32) return declare(1, "the state is of another plugin");
  const flags = load<u8>(at(b));
  const count = load<u32>(at(b) + 4);
  b = bytes(at(b) + 8, size(b) - 8);

  putU32(12); // the new state stands in front; it is filled in below
  for (let i = 0; i < 12; i++) putByte(0);
  for (let i: u32 = 0; i < count; i++) {
    const type = part(b);
    if (!at(type)) break;
    const data = part(behind(b, type));
    if (!at(data)) break;
    b = behind(b, data);
    if (!ended) event(data);
  }
  if (flags & LAST && !ended) failed(0);
  store<u32>(output() + 4, ended);
  store<u32>(output() + 8, calls);
  store<u32>(output() + 12, argued);
  return answer();
}

export function parley_error(n: u32): u64 {
  const whole = value(input(n));
  const status = number(get(whole, '"status"')), wait = number(text(get(get(whole, '"headers"'), '"retry-after"')));
  // The body is a text that mostly holds JSON: undo the one to read the other.
  putString(get(whole, '"body"'));
  const error = get(value(bytes(output(), written())), '"error"');
  let message = get(error, '"message"');
  if (!size(message)) message = error;
  const from = written(); // the answer stands behind the body
  putText('{"kind":"');
  putText(status == 401 ? "auth" : status == 402 ? "quota" : status == 403 ? "permission" : status == 404 ? "not_found" : status == 429 ? "rate_limit"
    : status == 408 || status == 504 ? "timeout" : status == 503 || status == 529 ? "overloaded" : status >= 400 && status < 500 ? "invalid_request" : "upstream");
  putText('","message":');
  if (isString(message)) put(message);
  else putText('""');
  if (wait) {
    putText(',"retry_after_ms":');
    let unit: u64 = 1;
    const ms = <u64>wait * 1000;
    while (ms / unit >= 10) unit *= 10;
    for (; unit; unit /= 10) putByte(0x30 + <u32>((ms / unit) % 10));
  }
  putText("}");
  const all = answer();
  return all ? bytes(at(all) + from, size(all) - from) : 0;
}
