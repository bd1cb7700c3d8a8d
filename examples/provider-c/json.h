// Just enough JSON: values are looked up where they stand, without a tree. What
// is no JSON has no members, and its texts are empty.
#pragma once
#include "parley.h"

static bytes skip_space(bytes b) {
  while (b.n && (*b.p == ' ' || *b.p == '\n' || *b.p == '\t' || *b.p == '\r' || *b.p == ',' || *b.p == ':')) b.p++, b.n--;
  return b;
}

// value is the one that b begins with, behind any separators; it has no bytes
// where none does.
static bytes value(bytes b) {
  b = skip_space(b);
  u32 i = 0, depth = 0;
  for (; i < b.n; i++) {
    u8 c = b.p[i];
    if (c == '"') {
      for (i++; i < b.n && b.p[i] != '"'; i++)
        if (b.p[i] == '\\') i++;
      if (i >= b.n) return (bytes){b.p, 0};
    } else if (c == '{' || c == '[') {
      depth++;
      continue;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return (bytes){b.p, i};
      depth--;
    } else if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      return (bytes){b.p, i};
    } else if (depth || i + 1 < b.n) {
      continue;
    }
    if (depth == 0) return (bytes){b.p, i + 1};
  }
  return (bytes){b.p, 0}; // it is cut off
}

static bytes behind(bytes b, bytes v) { return (bytes){v.p + v.n, b.p + b.n - (v.p + v.n)}; }

static int is(bytes v, const char *word) {
  u32 i = 0;
  while (i < v.n && word[i] && v.p[i] == (u8)word[i]) i++;
  return i == v.n && !word[i];
}

// next cuts the first item off what is left of an array or object.
static int next(bytes *rest, bytes *item) {
  *item = value(*rest);
  *rest = behind(*rest, *item);
  return item->n > 0;
}

// inside is what stands between the brackets of a value that begins with open.
static bytes inside(bytes v, u8 open) { return v.n >= 2 && *v.p == open ? (bytes){v.p + 1, v.n - 2} : (bytes){v.p, 0}; }

// get is an object's member called name, which is given with its quotes.
static bytes get(bytes object, const char *name) {
  bytes key, v, rest = inside(object, '{');
  while (next(&rest, &key) && next(&rest, &v))
    if (is(key, name)) return v;
  return (bytes){object.p, 0};
}

// pick finds two members of the object that b begins with, on one way through
// it: found[i] is the one called names[i]. What follows them is not looked at.
static void pick(bytes b, const char *const names[2], bytes found[2]) {
  bytes key, v, rest = inside(skip_space(b), '{');
  found[0] = found[1] = (bytes){b.p, 0};
  while (!(found[0].n && found[1].n) && next(&rest, &key) && next(&rest, &v))
    for (u32 i = 0; i < 2; i++)
      if (!found[i].n && is(key, names[i])) found[i] = v;
}

static u32 number(bytes v) {
  u32 n = 0;
  for (u32 i = 0; i < v.n && v.p[i] >= '0' && v.p[i] <= '9' && n < 100000000; i++) n = n * 10 + v.p[i] - '0';
  return n;
}

static u32 hex4(bytes s, u32 i) {
  u32 r = 0;
  for (u32 k = i; k < i + 4; k++) {
    u8 c = k < s.n ? s.p[k] | 0x20 : 0;
    r = r << 4 | (c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : 0);
  }
  return r;
}

static void put_rune(u32 r) {
  u8 b[4] = {r};
  u32 n = 1;
  if (r >= 0x10000) b[0] = 0xf0 | r >> 18, b[1] = 0x80 | (r >> 12 & 63), b[2] = 0x80 | (r >> 6 & 63), b[3] = 0x80 | (r & 63), n = 4;
  else if (r >= 0x800) b[0] = 0xe0 | r >> 12, b[1] = 0x80 | (r >> 6 & 63), b[2] = 0x80 | (r & 63), n = 3;
  else if (r >= 0x80) b[0] = 0xc0 | r >> 6, b[1] = 0x80 | (r & 63), n = 2;
  put(b, n);
}

// put_string adds the text of a string, its escapes undone.
static void put_string(bytes v) {
  bytes s = inside(v, '"');
  u32 from = 0;
  for (u32 i = 0; i < s.n; i++) {
    if (s.p[i] != '\\') continue;
    put(s.p + from, i - from);
    switch (s.p[++i]) {
    case 'b': put_rune('\b'); break;
    case 'f': put_rune('\f'); break;
    case 'n': put_rune('\n'); break;
    case 'r': put_rune('\r'); break;
    case 't': put_rune('\t'); break;
    case 'u': {
      u32 r = hex4(s, i + 1), low = hex4(s, i + 7);
      i += 4;
      if (r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000) r = 0x10000 + ((r - 0xd800) << 10) + low - 0xdc00, i += 6;
      put_rune(r >= 0xd800 && r < 0xe000 ? 0xfffd : r);
      break;
    }
    default: put(s.p + i, 1);
    }
    from = i + 1;
  }
  if (from < s.n) put(s.p + from, s.n - from);
}
