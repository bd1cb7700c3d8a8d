// Just enough JSON: values are looked up where they stand, without a tree. What
// is no JSON has no members, and its texts are empty.
import { Bytes, bytes, at, size, put, putByte } from "./parley";

const QUOTE: u32 = 0x22, BACKSLASH: u32 = 0x5c, COMMA: u32 = 0x2c, COLON: u32 = 0x3a;
export const BRACE: u32 = 0x7b, BRACKET: u32 = 0x5b; // each two before the one that closes it

// @ts-ignore: a decorator of AssemblyScript's
@inline function byteOf(b: Bytes, i: u32): u32 { return i < size(b) ? load<u8>(at(b) + i) : 0; }

function space(c: u32): bool { return c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09; }

function skip(b: Bytes): Bytes {
  while (size(b) && (space(byteOf(b, 0)) || byteOf(b, 0) == COMMA || byteOf(b, 0) == COLON)) b = bytes(at(b) + 1, size(b) - 1);
  return b;
}

// value is the one that b begins with, behind any separators; it has no bytes
// where none does.
export function value(b: Bytes): Bytes {
  b = skip(b);
  const n = size(b), none = bytes(at(b), 0);
  let depth = 0;
  for (let i: u32 = 0; i < n; i++) {
    const c = byteOf(b, i);
    if (c == QUOTE) {
      for (i++; i < n && byteOf(b, i) != QUOTE; i++) if (byteOf(b, i) == BACKSLASH) i++;
      if (i >= n) return none;
    } else if (c == BRACE || c == BRACKET) {
      depth++;
      continue;
    } else if (c == BRACE + 2 || c == BRACKET + 2) {
      if (!depth) return bytes(at(b), i);
      depth--;
    } else if (!depth && (c == COMMA || space(c))) {
      return bytes(at(b), i);
    } else if (depth || i + 1 < n) {
      continue;
    }
    if (!depth) return bytes(at(b), i + 1);
  }
  return none; // it is cut off
}

// behind is what is left of b behind v, a part of it.
export function behind(b: Bytes, v: Bytes): Bytes {
  const p = at(v) + size(v);
  return bytes(p, <u32>(at(b) + size(b) - p));
}

export function is(v: Bytes, word: string): bool {
  if (size(v) != <u32>word.length) return false;
  for (let i = 0; i < word.length; i++) if (byteOf(v, i) != <u32>word.charCodeAt(i)) return false;
  return true;
}

// inside is what stands between the brackets of a value that begins with open.
export function inside(v: Bytes, open: u32): Bytes {
  return size(v) >= 2 && byteOf(v, 0) == open ? bytes(at(v) + 1, size(v) - 2) : bytes(at(v), 0);
}

// get is an object's member called name, which is given with its quotes.
export function get(object: Bytes, name: string): Bytes {
  let rest = inside(object, BRACE);
  let key = value(rest);
  while (size(key)) {
    const v = value(behind(rest, key));
    if (!size(v) || is(key, name)) return v;
    rest = behind(rest, v);
    key = value(rest);
  }
  return key;
}

// pick finds two members of the object that b begins with, on one way through
// it. What follows them is not looked at.
export let one: Bytes = 0, other: Bytes = 0;
export function pick(b: Bytes, first: string, second: string): void {
  one = other = bytes(at(b), 0);
  let rest = inside(skip(b), BRACE);
  for (let key = value(rest); size(key) && !(size(one) && size(other)); key = value(rest)) {
    const v = value(behind(rest, key));
    if (!size(v)) return;
    if (!size(one) && is(key, first)) one = v;
    else if (!size(other) && is(key, second)) other = v;
    rest = behind(rest, v);
  }
}

export function isString(v: Bytes): bool { return size(v) >= 2 && byteOf(v, 0) == QUOTE; }
export function text(v: Bytes): Bytes { return inside(v, QUOTE); } // with its escapes

export function number(v: Bytes): u32 {
  let n: u32 = 0;
  for (let i: u32 = 0; byteOf(v, i) >= 0x30 && byteOf(v, i) <= 0x39 && n < 100000000; i++) n = n * 10 + byteOf(v, i) - 0x30;
  return n;
}

function hex4(s: Bytes, i: u32): u32 {
  let r: u32 = 0;
  for (let k = i; k < i + 4; k++) {
    const c = byteOf(s, k) | 0x20;
    r = (r << 4) | (c >= 0x61 && c <= 0x66 ? c - 0x57 : c >= 0x30 && c <= 0x39 ? c - 0x30 : 0);
  }
  return r;
}

function putRune(r: u32): void {
  if (r < 0x80) { putByte(r); return; }
  if (r < 0x800) putByte(0xc0 | (r >> 6));
  else if (r < 0x10000) putByte(0xe0 | (r >> 12));
  else { putByte(0xf0 | (r >> 18)); putByte(0x80 | ((r >> 12) & 63)); }
  if (r >= 0x800) putByte(0x80 | ((r >> 6) & 63));
  putByte(0x80 | (r & 63));
}

// putString adds the text of a string, its escapes undone.
export function putString(v: Bytes): void {
  const s = text(v), n = size(s);
  let from: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    if (byteOf(s, i) != BACKSLASH) continue;
    put(bytes(at(s) + from, i - from));
    const c = byteOf(s, ++i);
    if (c == 0x75) { // \u
      let r = hex4(s, i + 1);
      const low = hex4(s, i + 7);
      i += 4;
      if (r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
        r = 0x10000 + ((r - 0xd800) << 10) + low - 0xdc00;
        i += 6;
      }
      putRune(r >= 0xd800 && r < 0xe000 ? 0xfffd : r);
    } else {
      putByte(c == 0x62 ? 0x08 : c == 0x66 ? 0x0c : c == 0x6e ? 0x0a : c == 0x72 ? 0x0d : c == 0x74 ? 0x09 : c);
    }
    from = i + 1;
  }
  if (from < n) put(bytes(at(s) + from, n - from));
}
