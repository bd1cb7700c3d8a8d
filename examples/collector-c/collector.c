// A collector that counts chats, the searches made for them, and how long they
// took. What it keeps is one struct: the window.
#include "parley.h"

enum { CHAT = 15, OUTCOME = 0, SEARCHES = 4, LATENCY = 7, SOURCE = 9 }; // the event, and fields of it
enum { ANSWERED = 1 };                                                  // an outcome
enum { INT = 3, RATIO = 4, BY = 0x80 };                                 // tags of metrics; BY comes on top of one
enum { RESET = 1 };                                                     // flag of flush
enum { SOURCES = 65 };                                                  // that a window has at most, "other" among them

static struct {
  u64 chats, answered, searches, latency;
  struct { u64 source, latency, chats; } by[SOURCES]; // the first that are not 0
} window;

// of_source counts a chat of a source, which is a handle; 0 is none.
static void of_source(u64 source, u64 latency) {
  for (u32 i = 0; source && i < SOURCES; i++) {
    if (window.by[i].source && window.by[i].source != source) continue;
    window.by[i].source = source;
    window.by[i].latency += latency;
    window.by[i].chats++;
    return;
  }
}

// field is word i of a record that has so many; what it lacks is 0.
static u64 field(const u8 *record, u32 fields, u32 i) {
  u64 v = 0;
  if (i < fields) __builtin_memcpy(&v, record + 8 + 8 * i, 8);
  return v;
}

u32 EXPORT(parley_observe)(u32 len) {
  bytes in = input(len);
  u32 taken = 0;
  while (in.n >= 8) {
    u32 kind = in.p[0] | in.p[1] << 8, fields = in.p[2] | in.p[3] << 8, size = 8 + 8 * fields;
    if (size > in.n) break;
    if (kind == CHAT) { // a kind that it does not know counts as taken
      window.chats++;
      window.answered += field(in.p, fields, OUTCOME) == ANSWERED;
      window.searches += field(in.p, fields, SEARCHES);
      window.latency += field(in.p, fields, LATENCY);
      of_source(field(in.p, fields, SOURCE), field(in.p, fields, LATENCY));
    }
    in = (bytes){in.p + size, in.n - size};
    taken++;
  }
  return taken;
}

// metric puts one of the manifest, by its place there; den is for ratios.
static void metric(u32 place, u32 tag, u64 num, u64 den) {
  put_u32(place | tag << 16);
  put_u32(tag == RATIO ? 2 : 1);
  put(&num, 8);
  if (tag == RATIO) put(&den, 8);
}

u64 EXPORT(parley_flush)(u32 len) {
  bytes in = input(len);
  if (in.n < 4) return declare(1, "flush input is malformed");
  metric(0, INT, window.chats, 0);
  metric(1, INT, window.answered, 0);
  metric(2, INT, window.searches, 0);
  if (window.chats) metric(3, RATIO, window.latency, window.chats);
  for (u32 i = 0; i < SOURCES && window.by[i].source; i++) {
    put_u32(4 | (RATIO | BY) << 16);
    put_u32(3);
    put(&window.by[i], 24); // the label's value, numerator, denominator
  }
  if (in.p[0] & RESET) __builtin_memset(&window, 0, sizeof window);
  return answer();
}

// The window's bytes, behind a word that says whose they are.
static const u32 mine = 0x32746863;

u64 EXPORT(parley_save)(void) {
  input(0);
  put_u32(mine);
  put(&window, sizeof window);
  return answer();
}

u32 EXPORT(parley_load)(u32 len) {
  bytes in = input(len);
  u32 whose;
  if (in.n != sizeof whose + sizeof window) return 0;
  __builtin_memcpy(&whose, in.p, sizeof whose);
  if (whose != mine) return 0;
  __builtin_memcpy(&window, in.p + sizeof whose, sizeof window);
  return 1;
}
