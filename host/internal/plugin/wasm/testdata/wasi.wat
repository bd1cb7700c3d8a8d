;; wasi calls what the host has of WASI and answers with what came back:
;; u64 time of day, u64 count from start, 8 random bytes, then a byte for the
;; error number of each of the functions in the order of the imports.
(module $wasi
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param i32) (result i32) (i32.const 4096))
  (func (export "parley_decode") (param i32) (result i64)
    (i32.store8 (i32.const 24) (call $clock (i32.const 0) (i64.const 1) (i32.const 0)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 8)))
    (i32.store8 (i32.const 25) (call $random (i32.const 16) (i32.const 8)))
    (i64.store (i32.const 1024) (i64.const 42)) ;; one subscription, to the clock
    (i32.store8 (i32.const 26) (call $poll (i32.const 1024) (i32.const 2048) (i32.const 1) (i32.const 3000)))
    (i32.store8 (i32.const 27) (call $prestat (i32.const 3) (i32.const 64)))
    (i32.store8 (i32.const 28) (call $close (i32.const 3)))
    (i32.store8 (i32.const 29) (call $args (i32.const 64) (i32.const 68)))
    (i32.store8 (i32.const 30) (call $environ (i32.const 64) (i32.const 68)))
    (i32.store8 (i32.const 31) (call $yield))
    (i32.store8 (i32.const 32) (call $random (i32.const 65535) (i32.const 2)))
    (i32.store8 (i32.const 33) (i32.load8_u (i32.const 2048))) ;; the subscription's own number
    (i32.store8 (i32.const 34) (i32.load8_u (i32.const 3000))) ;; how many came true
    (i64.const 35)))
