;; keybody asks for the key in a field of the body.
(module $keybody
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22url\22:\22https://api.example.com/v1\22,\22headers\22:{},\22body\22:{\22q\22:\22${apiKey}\22}}")
  (data (i32.const 1536) "\02\00\00\00st\01\00\00\00\02\00\00\00hi")
  (data (i32.const 1600) "{\22kind\22:\22rate_limit\22,\22message\22:\22slow\5cndown\22,\22retry_after_ms\22:1500}")
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func (export "parley_encode") (param $len i32) (result i64)
    (i64.const 0x00000400_0000004a))
  (func (export "parley_decode") (param $len i32) (result i64)
    (i64.const 0x00000600_00000010))
  (func (export "parley_error") (param $len i32) (result i64)
    (i64.const 0x00000640_00000042)))
