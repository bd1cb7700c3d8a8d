;; vectors writes from more places than the host is willing to look at, and from outside its memory, and answers with the two error numbers.
(module $vectors
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\00\00\ff\7f\08\00\00\00")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (i32.const 4096))
  (func $echo (param $len i32) (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (local.get $len))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) ;; "!"
      (then
        (i32.store (i32.const 64) (call $fd_write (i32.const 1) (i32.const 0) (i32.const 0x10000000) (i32.const 32)))
        (i32.store (i32.const 68) (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32)))
        (i64.const 0x00000040_00000008))
      (else (call $echo (local.get $len))))))
