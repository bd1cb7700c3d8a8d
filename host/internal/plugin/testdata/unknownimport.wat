;; unknownimport imports what the host does not have.
(module $unknownimport
  (import "wasi:filesystem/types@0.2.0" "open-at" (func (param i32 i32 i32 i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22url\22:\22https://api.example.com/v1\22,\22headers\22:{\22authorization\22:\22Bearer ${apiKey}\22},\22body\22:{\22q\22:\22a<b\22},\22new\22:1}")
  (data (i32.const 1536) "\02\00\00\00st\01\00\00\00\02\00\00\00hi")
  (data (i32.const 1600) "{\22kind\22:\22rate_limit\22,\22message\22:\22slow\5cndown\22,\22retry_after_ms\22:1500}")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func $evil (result i64)
    (unreachable))
  (func (export "parley_encode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u offset=22 (i32.const 4096)) (i32.const 33)) ;; {"settings":{"orgId":"!
      (then (call $evil))
      (else (i64.const 0x00000400_0000006e))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u offset=4 (i32.const 4096)) (i32.const 4)) ;; no state, cancelled
      (then (call $evil))
      (else (i64.const 0x00000600_00000010))))
  (func (export "parley_error") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u offset=10 (i32.const 4096)) (i32.const 53)) ;; {"status":5
      (then (call $evil))
      (else (i64.const 0x00000640_00000042)))))
