//! A provider for servers that speak OpenAI's streaming API: text, tool calls,
//! failures. It keeps nothing between calls; what a stream needs is its state.

mod parley;

use parley::{call, cut, put, record, Declared, LAST, MALFORMED, REFUSED};
use serde_json::{json, value::RawValue, Value};
use std::collections::BTreeMap;

// Records.
const TEXT: u8 = 1;
const TOOL_START: u8 = 4;
const TOOL_ARGUMENTS: u8 = 5;
const FINISH: u8 = 6;
const ERROR: u8 = 8;

#[no_mangle]
extern "C" fn parley_encode(len: u32) -> u64 {
    call(len, |input, out| {
        let request: BTreeMap<String, &RawValue> = serde_json::from_slice(input).map_err(|e| Declared(MALFORMED, e.to_string()))?;
        let chat = request.get("chat").map_or("", |v| v.get());
        if !chat.starts_with('{') {
            return Err(Declared(MALFORMED, "encode input has no chat in it".into()));
        }
        let settings: Value = request.get("settings").and_then(|v| serde_json::from_str(v.get()).ok()).unwrap_or_default();
        let base = settings["baseUrl"].as_str().unwrap_or_default();
        if base.is_empty() {
            return Err(Declared(
                REFUSED,
                "`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1".into(),
            ));
        }
        // Where the key goes says the manifest's auth: the host puts it in.
        let headers = json!({"Content-Type": "application/json"});
        let url = format!("{}/chat/completions", base.strip_suffix('/').unwrap_or(base));
        let head = json!({"url": url, "headers": headers, "framing": "sse"}).to_string();
        out.extend_from_slice(head[..head.len() - 1].as_bytes());
        out.extend_from_slice(b",\"body\":");
        out.extend_from_slice(chat.as_bytes()); // as it came
        out.push(b'}');
        Ok(())
    })
}

/// The state of a stream, as it travels.
#[derive(Default)]
struct State {
    ended: bool,
    calls: u8,
    argued: u32, // bit i for call i
}

impl State {
    fn read(b: &[u8]) -> Option<State> {
        match b {
            [] => Some(State::default()),
            [ended, calls @ 0..=32, a, b, c, d] => Some(State { ended: *ended != 0, calls: *calls, argued: u32::from_le_bytes([*a, *b, *c, *d]) }),
            _ => None,
        }
    }

    fn bytes(&self) -> [u8; 6] {
        let [a, b, c, d] = self.argued.to_le_bytes();
        [self.ended as u8, self.calls, a, b, c, d]
    }

    /// Ends the response with an error.
    fn failed(&mut self, out: &mut Vec<u8>, message: &str) {
        record(out, ERROR, json!({"kind": "upstream", "message": message}).to_string().as_bytes());
        self.ended = true;
    }

    /// Takes a piece of a call. The first one names it.
    fn tool(&mut self, out: &mut Vec<u8>, piece: &Value) {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let i = piece["index"].as_u64().unwrap_or(0);
        let (id, name, arguments) = (text(&piece["id"]), text(&piece["function"]["name"]), text(&piece["function"]["arguments"]));
        let mut payload = (i as u32).to_le_bytes().to_vec();
        if i == self.calls as u64 && i < 32 && !id.is_empty() && !name.is_empty() {
            put(&mut payload, id.as_bytes());
            payload.extend_from_slice(name.as_bytes());
            record(out, TOOL_START, &payload);
            self.calls += 1;
        }
        if i < self.calls as u64 && !arguments.is_empty() {
            payload.truncate(4);
            payload.extend_from_slice(arguments.as_bytes());
            record(out, TOOL_ARGUMENTS, &payload);
            self.argued |= 1 << i;
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>, reason: &str) {
        for i in (0..self.calls as u32).filter(|i| self.argued >> i & 1 == 0) {
            let mut payload = i.to_le_bytes().to_vec();
            payload.extend_from_slice(b"{}");
            record(out, TOOL_ARGUMENTS, &payload);
        }
        let known = ["length", "tool_calls", "content_filter"];
        record(out, FINISH, if known.contains(&reason) { reason } else { "stop" }.as_bytes());
        self.ended = true;
    }

    fn event(&mut self, out: &mut Vec<u8>, data: &[u8]) {
        let Ok(v) = serde_json::from_slice::<Value>(data) else { return };
        let error = &v["error"];
        if !error.is_null() {
            let message = error["message"].as_str().or(error.as_str());
            return self.failed(out, message.unwrap_or("the response ended early"));
        }
        let choice = &v["choices"][0];
        match choice["delta"]["content"].as_str() {
            None | Some("") => {}
            Some(text) => record(out, TEXT, text.as_bytes()),
        }
        for piece in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.tool(out, piece);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish(out, reason);
        }
    }
}

#[no_mangle]
extern "C" fn parley_decode(len: u32) -> u64 {
    call(len, |mut input, out| {
        let malformed = || Declared(MALFORMED, "decode input is malformed".into());
        let before = cut(&mut input).ok_or_else(malformed)?;
        let mut state = State::read(before).ok_or_else(malformed)?;
        let head = input.get(..8).ok_or_else(malformed)?;
        let (last, count) = (head[0] & LAST != 0, u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        input = &input[8..];

        put(out, &state.bytes()); // it is filled in below
        for _ in 0..count {
            let (Some(_type), Some(data)) = (cut(&mut input), cut(&mut input)) else { break };
            if !state.ended {
                state.event(out, data);
            }
        }
        if last && !state.ended {
            state.failed(out, "the response ended early");
        }
        out[4..10].copy_from_slice(&state.bytes());
        Ok(())
    })
}

#[no_mangle]
extern "C" fn parley_error(len: u32) -> u64 {
    call(len, |input, out| {
        let response: Value = serde_json::from_slice(input).map_err(|e| Declared(MALFORMED, e.to_string()))?;
        let kind = match response["status"].as_u64().unwrap_or(0) {
            401 => "auth",
            402 => "quota",
            403 => "permission",
            404 => "not_found",
            408 | 504 => "timeout",
            429 => "rate_limit",
            503 | 529 => "overloaded",
            400..=499 => "invalid_request",
            _ => "upstream",
        };
        // The body is a text that mostly holds JSON.
        let body: Value = serde_json::from_str(response["body"].as_str().unwrap_or_default()).unwrap_or_default();
        let error = &body["error"];
        let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
        let mut answer = json!({"kind": kind, "message": message});
        if let Some(seconds) = response["headers"]["retry-after"].as_str().and_then(|s| s.parse::<u32>().ok()) {
            answer["retry_after_ms"] = (seconds as u64 * 1000).into();
        }
        out.extend_from_slice(answer.to_string().as_bytes());
        Ok(())
    })
}
