;; later writes to stderr and is denied memory in one call, which ends well, and
;; traps in another, for an input that begins with "!", without a word.
(module $later
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\03\00\00\00")
  (data (i32.const 16) "old")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) (then (unreachable))) ;; "!"
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 32)))
    (drop (memory.grow (i32.const 60000)))
    (i64.const 0)))
