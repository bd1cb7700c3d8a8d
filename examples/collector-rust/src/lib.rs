//! A collector that counts chats, the searches made for them, and how long they
//! took. What it keeps is one struct: the window.

mod parley;

use parley::{call, count, Declared, MALFORMED};
use std::sync::Mutex;

const CHAT: u16 = 15; // the event
const ANSWERED: u64 = 1; // an outcome
const INT: u8 = 3; // tags of metrics
const RATIO: u8 = 4;
const BY: u8 = 0x80; // comes on top of a tag: the first word is the label's value
const RESET: u8 = 1; // flag of flush
const MINE: u64 = 0x32746863; // says whose a saved window is

/// What a window has of one source, which is a handle.
type Source = [u64; 3]; // handle, latency, chats: words of a metric

const SOURCES: usize = 65; // that a window has at most, "other" among them

struct Window {
    chats: u64,
    answered: u64,
    searches: u64,
    latency: u64,
    by: Vec<Source>,
}

const EMPTY: Window = Window { chats: 0, answered: 0, searches: 0, latency: 0, by: Vec::new() };

impl Window {
    fn of_source(&mut self, handle: u64, latency: u64) {
        let at = self.by.iter().position(|s| s[0] == handle).unwrap_or(self.by.len());
        if handle == 0 || at == SOURCES {
            return;
        }
        if at == self.by.len() {
            self.by.push([handle, 0, 0]);
        }
        self.by[at][1] = self.by[at][1].wrapping_add(latency);
        self.by[at][2] += 1;
    }
}

static WINDOW: Mutex<Window> = Mutex::new(EMPTY);

fn word(b: &[u8], i: usize) -> u64 {
    // What a record lacks is 0.
    b.get(8 * i..8 * i + 8).map_or(0, |w| u64::from_le_bytes(w.try_into().unwrap_or_default()))
}

#[no_mangle]
extern "C" fn parley_observe(len: u32) -> u32 {
    count(len, |mut input| {
        let mut window = WINDOW.lock().unwrap();
        let mut taken = 0;
        while let Some(head) = input.get(..8) {
            let (kind, fields) = (u16::from_le_bytes([head[0], head[1]]), u16::from_le_bytes([head[2], head[3]]));
            let end = 8 + 8 * fields as usize;
            let Some(record) = input.get(8..end) else { break };
            // A kind that it does not know counts as taken.
            if kind == CHAT {
                window.chats += 1;
                window.answered += (word(record, 0) == ANSWERED) as u64;
                window.searches = window.searches.wrapping_add(word(record, 4));
                window.latency = window.latency.wrapping_add(word(record, 7));
                window.of_source(word(record, 9), word(record, 7));
            }
            input = &input[end..];
            taken += 1;
        }
        taken
    })
}

/// Appends a metric of the manifest, by its place there.
fn metric(out: &mut Vec<u8>, place: u16, tag: u8, words: &[u64]) {
    out.extend_from_slice(&place.to_le_bytes());
    out.extend_from_slice(&[tag, 0]);
    out.extend_from_slice(&(words.len() as u32).to_le_bytes());
    words.iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
}

#[no_mangle]
extern "C" fn parley_flush(len: u32) -> u64 {
    call(len, |input, out| {
        let flags = input.get(..4).ok_or_else(|| Declared(MALFORMED, "flush input is malformed".into()))?[0];
        let mut window = WINDOW.lock().unwrap();
        metric(out, 0, INT, &[window.chats]);
        metric(out, 1, INT, &[window.answered]);
        metric(out, 2, INT, &[window.searches]);
        if window.chats > 0 {
            metric(out, 3, RATIO, &[window.latency, window.chats]);
        }
        window.by.iter().for_each(|s| metric(out, 4, RATIO | BY, s));
        if flags & RESET != 0 {
            *window = EMPTY;
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn parley_save() -> u64 {
    call(0, |_, out| {
        let w = WINDOW.lock().unwrap();
        let head = [MINE, w.chats, w.answered, w.searches, w.latency];
        head.iter().chain(w.by.iter().flatten()).for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
        Ok(())
    })
}

#[no_mangle]
extern "C" fn parley_load(len: u32) -> u32 {
    count(len, |input| {
        let sources = input.len().saturating_sub(40) / 24;
        if input.len() != 40 + 24 * sources || sources > SOURCES || word(input, 0) != MINE {
            return 0;
        }
        let by = (0..sources).map(|i| [5, 6, 7].map(|at| word(input, 3 * i + at))).collect();
        *WINDOW.lock().unwrap() = Window { chats: word(input, 1), answered: word(input, 2), searches: word(input, 3), latency: word(input, 4), by };
        1
    })
}
