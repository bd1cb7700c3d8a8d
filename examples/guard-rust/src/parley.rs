//! The guest's side of the contract between host and guest, version 1: what
//! abi/README.md says of memory, spans and records.

#![allow(dead_code)] // a plugin is of one kind, and this is for both

use std::cell::UnsafeCell;

/// What a call refuses its input with.
pub struct Declared(pub u32, pub String);

pub const MALFORMED: u32 = 1;
pub const REFUSED: u32 = 2; // the message is for the client

pub const LAST: u8 = 2; // flag of decode

/// A guest has one call at a time, so one of each is enough.
struct Region(UnsafeCell<Vec<u8>>);
unsafe impl Sync for Region {}
static INPUT: Region = Region(UnsafeCell::new(Vec::new()));
static OUTPUT: Region = Region(UnsafeCell::new(Vec::new()));

#[no_mangle]
extern "C" fn parley_abi() -> u32 {
    2
}

#[no_mangle]
extern "C" fn parley_input(size: u32) -> *mut u8 {
    let input = unsafe { &mut *INPUT.0.get() };
    if input.len() < size as usize {
        *input = Vec::new(); // before the larger one, so that they need not both fit
        if input.try_reserve_exact(size as usize).is_err() {
            return std::ptr::null_mut();
        }
        input.resize(size as usize, 0);
    }
    input.as_mut_ptr()
}

/// Makes a call: what `f` writes for the input is its result.
pub fn call(len: u32, f: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Declared>) -> u64 {
    let (input, out) = unsafe { (&*INPUT.0.get(), &mut *OUTPUT.0.get()) };
    out.clear();
    let declared = match f(&input[..(len as usize).min(input.len())], out) {
        Ok(()) => 0,
        Err(Declared(code, message)) => {
            out.clear();
            out.extend_from_slice(&code.to_le_bytes());
            out.extend_from_slice(message.as_bytes());
            1 << 31
        }
    };
    (out.as_ptr() as u64) << 32 | out.len() as u64 | declared
}

/// Makes a call that answers a number.
pub fn count(len: u32, f: impl FnOnce(&[u8]) -> u32) -> u32 {
    let input = unsafe { &*INPUT.0.get() };
    f(&input[..(len as usize).min(input.len())])
}

/// Cuts u32 n and n bytes off the front of `b`.
pub fn cut<'a>(b: &mut &'a [u8]) -> Option<&'a [u8]> {
    let n = u32::from_le_bytes(b.get(..4)?.try_into().ok()?) as usize;
    let v = b.get(4..)?.get(..n)?;
    *b = &b[4 + n..];
    Some(v)
}

/// Appends u32 n and n bytes.
pub fn put(out: &mut Vec<u8>, v: &[u8]) {
    out.extend_from_slice(&(v.len() as u32).to_le_bytes());
    out.extend_from_slice(v);
}

/// Appends a record.
pub fn record(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.extend_from_slice(&[kind, 0, 0, 0]);
    put(out, payload);
}
