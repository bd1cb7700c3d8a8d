//! A guard that takes a code name out of what is sent and answered, in any case and
//! however the answer is cut.

mod parley;

use parley::{call, cut, put, record, Declared, MALFORMED};

const ANSWER: u8 = 4; // stages
const REASONING: u8 = 5;
const FLAG_LAST: u8 = 2;
const RELEASE: u8 = 1; // records
const EDIT: u8 = 2;
const NOTE: u8 = 4;

const NAME: &[u8] = b"bluebird";
const INSTEAD: &[u8] = b"the project";

/// Whether `text` begins with the name, or with as much of it as there is.
fn begins(text: &[u8]) -> bool {
    let n = text.len().min(NAME.len());
    text[..n].eq_ignore_ascii_case(&NAME[..n])
}

fn words(out: &mut Vec<u8>, kind: u8, words: &[u32], rest: &[u8]) {
    let mut payload: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    payload.extend_from_slice(rest);
    record(out, kind, &payload);
}

/// Replaces the name in one item. Returns how much of it is done with: what may become
/// the name once more text came is not.
fn check(out: &mut Vec<u8>, item: u32, text: &[u8], whole: bool) -> usize {
    let mut at = 0;
    while at < text.len() {
        if !begins(&text[at..]) {
            at += 1;
        } else if text.len() - at >= NAME.len() {
            words(out, EDIT, &[item, at as u32, NAME.len() as u32], INSTEAD);
            words(out, NOTE, &[0], &[]);
            at += NAME.len();
        } else if whole {
            break;
        } else {
            return at;
        }
    }
    text.len()
}

#[no_mangle]
extern "C" fn parley_guard(len: u32) -> u64 {
    call(len, |input, out| {
        let malformed = || Declared(MALFORMED, "guard input is malformed".into());
        let head = input.get(..8).ok_or_else(malformed)?;
        let (stage, flags) = (head[0], head[1]);
        let count = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let mut rest = &input[8..];
        cut(&mut rest).ok_or_else(malformed)?; // options
        cut(&mut rest).ok_or_else(malformed)?; // state
        put(out, &[]); // this guard has none
        let stream = stage == ANSWER || stage == REASONING;
        for item in 0..count {
            rest = rest.get(4..).ok_or_else(malformed)?; // the item's kind
            let text = cut(&mut rest).ok_or_else(malformed)?;
            let done = check(out, item, text, !stream || flags & FLAG_LAST != 0);
            if stream {
                words(out, RELEASE, &[done as u32], &[]);
            }
        }
        Ok(())
    })
}
