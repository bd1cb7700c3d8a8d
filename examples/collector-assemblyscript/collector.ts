// A collector that counts chats, the searches made for them, and how long they
// took. What it keeps is four numbers: the window.
import { Bytes, bytes, at, size, input, put, putU32, answer, declare } from "./parley";
export { parley_abi, parley_input } from "./parley";

const CHAT: u32 = 15, OUTCOME: u32 = 0, SEARCHES: u32 = 4, LATENCY: u32 = 7, SOURCE: u32 = 9; // the event, and fields of it
const ANSWERED: u64 = 1; // an outcome
const INT: u32 = 3, RATIO: u32 = 4, BY: u32 = 0x80; // tags of metrics; BY comes on top of one
const RESET: u32 = 1; // flag of flush

// The window: chats, answered, searches, latency, behind a word that says whose
// it is; then three words for each source: its handle, latency, chats.
const MINE: u64 = 0x32746863;
const CHATS: usize = 8, ANSWERS: usize = 16, SEARCHED: usize = 24, TOOK: usize = 32, BY_SOURCE: usize = 40, ALL: usize = 40 + 24 * 65; // a window has 65 sources at most, "other" among them
const saved = memory.data(1600);

function add(what: usize, n: u64): void { store<u64>(saved + what, load<u64>(saved + what) + n); }

// ofSource counts a chat of a source; 0 is none.
function ofSource(source: u64, latency: u64): void {
  if (source == 0) return;
  for (let i: usize = BY_SOURCE; i < ALL; i += 24) {
    const there = load<u64>(saved + i);
    if (there != 0 && there != source) continue;
    store<u64>(saved + i, source);
    add(i + 8, latency);
    add(i + 16, 1);
    return;
  }
}

// field is word i of a record that has so many; what it lacks is 0.
function field(record: usize, fields: u32, i: u32): u64 { return i < fields ? load<u64>(record + 8 + 8 * i) : 0; }

export function parley_observe(n: u32): u32 {
  const b = input(n);
  let taken: u32 = 0;
  for (let i: u32 = 0; i + 8 <= size(b); taken++) {
    const record = at(b) + i, fields: u32 = load<u16>(record + 2), next = i + 8 + 8 * fields;
    if (next > size(b)) break;
    if (load<u16>(record) == CHAT) { // a kind that it does not know counts as taken
      add(CHATS, 1);
      add(ANSWERS, field(record, fields, OUTCOME) == ANSWERED ? 1 : 0);
      add(SEARCHED, field(record, fields, SEARCHES));
      add(TOOK, field(record, fields, LATENCY));
      ofSource(field(record, fields, SOURCE), field(record, fields, LATENCY));
    }
    i = next;
  }
  return taken;
}

// metric puts one of the manifest, by its place there.
function metric(place: u32, tag: u32, what: usize): void {
  putU32(place | (tag << 16));
  putU32(tag == RATIO ? 2 : 1);
  put(bytes(saved + what, 8));
  if (tag == RATIO) put(bytes(saved + CHATS, 8)); // on average
}

export function parley_flush(n: u32): u64 {
  const b: Bytes = input(n);
  if (size(b) < 4) return declare(1, "flush input is malformed");
  const reset = load<u32>(at(b)) & RESET;
  metric(0, INT, CHATS);
  metric(1, INT, ANSWERS);
  metric(2, INT, SEARCHED);
  if (load<u64>(saved + CHATS)) metric(3, RATIO, TOOK);
  for (let i: usize = BY_SOURCE; i < ALL && load<u64>(saved + i); i += 24) {
    putU32(4 | ((RATIO | BY) << 16));
    putU32(3);
    put(bytes(saved + i, 24)); // the label's value, numerator, denominator
  }
  if (reset) memory.fill(saved, 0, ALL);
  return answer();
}

export function parley_save(): u64 {
  input(0);
  store<u64>(saved, MINE);
  put(bytes(saved, u32(ALL)));
  return answer();
}

export function parley_load(n: u32): u32 {
  const b = input(n);
  if (size(b) != u32(ALL) || load<u64>(at(b)) != MINE) return 0;
  memory.copy(saved, at(b), ALL);
  return 1;
}
