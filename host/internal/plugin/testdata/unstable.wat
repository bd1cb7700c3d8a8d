;; unstable answers with nonsense when it is called the second time.
(module $unstable
  (memory (export "memory") 1)
  (global $n (mut i32) (i32.const 0))
  (data (i32.const 1024) "{\22url\22:\22https://api.example.com/v1\22,\22headers\22:{\22authorization\22:\22Bearer ${apiKey}\22},\22body\22:{\22q\22:\22a<b\22},\22new\22:1}")
  (data (i32.const 1536) "\02\00\00\00st\01\00\00\00\02\00\00\00hi")
  (data (i32.const 1600) "{\22kind\22:\22rate_limit\22,\22message\22:\22slow\5cndown\22,\22retry_after_ms\22:1500}")
  (data (i32.const 1700) "\00\00\00\00\01\00\00\00\02\00\00\00hi")
  (data (i32.const 1720) "\00\00\00\00\06\00\00\00\04\00\00\00stop")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func (export "parley_encode") (param $len i32) (result i64)
    (i64.const 0x00000400_0000006e))
  (func (export "parley_decode") (param $len i32) (result i64)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (if (result i64) (i32.eq (global.get $n) (i32.const 2))
      (then (i64.const 0x00000400_0000000a))
      (else
        (if (result i64) (i32.and (i32.load8_u offset=4 (i32.const 4096)) (i32.const 2)) ;; no state, last
          (then (i64.const 0x000006b8_00000010))
          (else (i64.const 0x000006a4_0000000e))))))
  (func (export "parley_error") (param $len i32) (result i64)
    (i64.const 0x00000640_00000042)))
