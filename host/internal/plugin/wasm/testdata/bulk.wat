;; bulk fills and copies all of its memory again and again, in one long row of instructions a turn.
(module $bulk
  (memory (export "memory") 256)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (i32.const 4096))
  (func $storm
    (memory.fill (i32.const 0) (i32.const 33) (i32.const 0x1000000))
    (memory.copy (i32.const 0) (i32.const 1) (i32.const 0xffffff))
    (memory.fill (i32.const 0) (i32.const 33) (i32.const 0x1000000))
    (memory.copy (i32.const 1) (i32.const 0) (i32.const 0xffffff)))
  (func $more (call $storm) (call $storm) (call $storm) (call $storm) (call $storm) (call $storm) (call $storm) (call $storm))
  (func $most (call $more) (call $more) (call $more) (call $more) (call $more) (call $more) (call $more) (call $more))
  (func $echo (param $len i32) (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (local.get $len))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) ;; "!"
      (then
        (loop $again (call $most) (br $again))
        (unreachable))
      (else (call $echo (local.get $len))))))
