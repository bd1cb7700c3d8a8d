;; trap traps after it wrote why to stderr.
(module $trap
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\09\00\00\00")
  (data (i32.const 16) "oh dear\0a\ff")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (i32.const 4096))
  (func $echo (param $len i32) (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (local.get $len))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) ;; "!"
      (then
        (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 32)))
        (unreachable))
      (else (call $echo (local.get $len))))))
