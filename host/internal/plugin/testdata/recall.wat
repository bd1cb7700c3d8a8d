;; recall is a provider without any grant that answers each question itself: with
;; the first 2048 bytes of what it was asked the time before, in hexadecimal.
(module $recall
  (memory (export "memory") 2)
  (data (i32.const 70000) "{\22reply\22:\22")
  (data (i32.const 74106) "\22}")
  (data (i32.const 80004) "\01\00\00\00\00\10\00\00")
  (data (i32.const 84108) "\06\00\00\00\04\00\00\00stop")
  (data (i32.const 1024) "{\22kind\22:\22other\22,\22message\22:\22no\22}")
  (data (i32.const 1100) "0123456789abcdef")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (select (i32.const 4096) (i32.const 0) (i32.le_u (local.get $size) (i32.const 61440))))
  (func $digit (param $to i32) (param $v i32)
    (i32.store8 (local.get $to) (i32.load8_u offset=1100 (i32.and (local.get $v) (i32.const 15)))))
  (func (export "parley_encode") (param $len i32) (result i64)
    (local $k i32) (local $b i32)
    (loop $next
      (local.set $b (i32.load8_u offset=65536 (local.get $k)))
      (call $digit (i32.add (i32.const 70010) (i32.shl (local.get $k) (i32.const 1))) (i32.shr_u (local.get $b) (i32.const 4)))
      (call $digit (i32.add (i32.const 70011) (i32.shl (local.get $k) (i32.const 1))) (local.get $b))
      (br_if $next (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 1))) (i32.const 2048))))
    (memory.copy (i32.const 65536) (i32.const 4096) (i32.const 2048))
    (i64.const 0x11170_0000100c))
  ;; The event, which is the reply, ends its input.
  (func (export "parley_decode") (param $len i32) (result i64)
    (memory.copy (i32.const 80012) (local.get $len) (i32.const 4096))
    (i64.const 0x13880_00001018))
  (func (export "parley_error") (param $len i32) (result i64) (i64.const 0x00000400_0000001f)))
