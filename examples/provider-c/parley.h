// The guest's side of the contract between host and guest, version 1, in C
// without a library: what abi/README.md says of memory, spans and records.
//
// Memory is used from left to right, and from the start again in each call, so
// that there is nothing to free:
//
//   data, stack | input, as large as the largest so far | output, as it grows
#pragma once
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef struct { const u8 *p; u32 n; } bytes;

extern u8 __heap_base; // the linker's: the end of data and stack
static u32 capacity, out, wrong;

static u8 *output(void) { return &__heap_base + capacity; }
static bytes input(u32 n) { out = wrong = 0; return (bytes){&__heap_base, n}; }

// reach makes memory reach up to end.
static int reach(u64 end) {
  u64 have = (u64)__builtin_wasm_memory_size(0) << 16;
  return end <= have || __builtin_wasm_memory_grow(0, (end - have + 0xffff) >> 16) != (u32)-1;
}

u32 EXPORT(parley_abi)(void) { return 2; }

u8 *EXPORT(parley_input)(u32 size) {
  if (size > capacity && !reach((u64)(u32)&__heap_base + size)) return 0;
  if (size > capacity) capacity = size;
  return &__heap_base;
}

// put adds to the output.
static void put(const void *p, u32 n) {
  if (!reach((u64)(u32)output() + out + n)) { wrong = 1; return; }
  __builtin_memcpy(output() + out, p, n);
  out += n;
}
static void put_u32(u32 v) { put(&v, 4); } // Wasm is little-endian, as the contract
static u32 length(const char *s) { u32 n = 0; while (s[n]) n++; return n; }
static void put_text(const char *s) { put(s, length(s)); }

// begin and end are put around the payload of a record; a state is one of kind 0
// without its first word.
static u32 begin(u32 kind) { put_u32(kind); put_u32(0); return out; }
static void end(u32 at) { u32 n = out - at; if (!wrong) __builtin_memcpy(output() + at - 4, &n, 4); }
static void record(u32 kind, const char *s) { u32 at = begin(kind); put_text(s); end(at); }

// answer is a call's result: what was put out.
static u64 answer(void) { return wrong ? 0 : (u64)(u32)output() << 32 | out; }

// declare is the result of a call that refuses its input: 1 malformed, 2 for the
// client to read, 3 anything else.
static u64 declare(u32 code, const char *message) {
  out = 0;
  put_u32(code);
  put_text(message);
  return answer() | 1u << 31;
}
