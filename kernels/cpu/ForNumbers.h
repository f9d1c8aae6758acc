// One FOR_NUMBER(dtype), or FOR_INT(dtype) for the integers alone, for each
// dtype; whoever includes this defines the one or the other.
#ifdef FOR_NUMBER
FOR_NUMBER(f32)
FOR_NUMBER(f64)
FOR_NUMBER(f16)
FOR_NUMBER(bf16)
#define FOR_INT FOR_NUMBER
#endif
FOR_INT(i8)
FOR_INT(i16)
FOR_INT(i32)
FOR_INT(i64)
FOR_INT(u8)
FOR_INT(u16)
FOR_INT(u32)
FOR_INT(u64)
#undef FOR_INT
#undef FOR_NUMBER
