// The guest's side of the contract between host and guest, version 1: what
// abi/README.md says of memory, spans and records. Nothing here allocates:
// memory is used from left to right, and from the start again in each call.
//
//   data | input, as large as the largest so far | output, as it grows

// Bytes are a part of memory: address << 32 | length, as a span is.
export type Bytes = u64;
// @ts-ignore: a decorator of AssemblyScript's
@inline export function bytes(p: usize, n: u32): Bytes { return ((<u64>p) << 32) | n; }
// @ts-ignore
@inline export function at(b: Bytes): usize { return <usize>(b >> 32); }
// @ts-ignore
@inline export function size(b: Bytes): u32 { return <u32>b; }

let capacity: u32 = 0;
let out: u32 = 0;
let wrong = false;

// @ts-ignore
@inline export function output(): usize { return __heap_base + capacity; }
export function written(): u32 { return out; }
export function rewind(to: u32): void { out = to; }

export function input(n: u32): Bytes {
  out = 0;
  wrong = false;
  return bytes(__heap_base, n);
}

// reach makes memory reach up to end.
function reach(end: u64): bool {
  const have = (<u64>memory.size()) << 16;
  return end <= have || memory.grow(<i32>((end - have + 0xffff) >> 16)) != -1;
}

export function parley_abi(): u32 { return 2; }

export function parley_input(n: u32): usize {
  if (n > capacity && !reach((<u64>__heap_base) + n)) return 0;
  if (n > capacity) capacity = n;
  return __heap_base;
}

// put adds to the output.
export function put(b: Bytes): void {
  if (!reach((<u64>output()) + out + size(b))) { wrong = true; return; }
  memory.copy(output() + out, at(b), size(b));
  out += size(b);
}

export function putByte(c: u32): void {
  if (!reach((<u64>output()) + out + 1)) { wrong = true; return; }
  store<u8>(output() + out++, <u8>c);
}

export function putU32(v: u32): void { for (let i = 0; i < 4; i++, v >>= 8) putByte(v & 0xff); }
export function putText(s: string): void { for (let i = 0; i < s.length; i++) putByte(s.charCodeAt(i)); } // of ASCII

// begin and end are put around the payload of a record.
export function begin(kind: u32): u32 { putU32(kind); putU32(0); return out; }
export function end(from: u32): void { if (!wrong) store<u32>(output() + from - 4, out - from); }
export function record(kind: u32, s: string): void { const from = begin(kind); putText(s); end(from); }

// answer is a call's result: what was put out.
export function answer(): u64 { return wrong ? 0 : bytes(output(), out); }

// declare is the result of a call that refuses its input: 1 malformed, 2 for the
// client to read, 3 anything else.
export function declare(code: u32, message: string): u64 {
  out = 0;
  putU32(code);
  putText(message);
  return answer() | 0x80000000;
}
