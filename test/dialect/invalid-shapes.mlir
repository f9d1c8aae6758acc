// Each constraint of types and of operations without regions, broken.
// RUN: astra-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{invalid element type 'index'}}
func.func private @f(!astra.tensor<index, [n]>)

// -----

// expected-error @+1 {{rank 17 is above 16}}
func.func private @f(!astra.tensor<f32, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]>)

// -----

// expected-error @+1 {{negative extent -1}}
func.func private @f(!astra.tensor<f32, [-1]>)

// -----

// expected-error @+1 {{'n +' is not a dimension expression}}
func.func private @f(!astra.tensor<f32, ["n +"]>)

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %y: !astra.tensor<f32, [m]>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "astra.add"(%x, %y) : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<i1, [n]>) {
  // expected-error @+1 {{must be tensor of floats}}
  %0 = astra.exp %x : !astra.tensor<i1, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) negative exponent -1}}
  %0 = astra.pow_int %x, -1 : !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) order 33 is not within 0..32}}
  %0 = astra.sinc %x, 33 : !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, [n]>, %x: !astra.tensor<f32, [n]>, %y: !astra.tensor<f32, [m]>) {
  // expected-error @+2 {{(C1) the values have types}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.select %c, %x, %y : (!astra.tensor<i1, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, [m]>, %x: !astra.tensor<f32, [n]>) {
  // expected-error @+2 {{(C2) the condition's shape differs}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.select %c, %x, %x : (!astra.tensor<i1, [m]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) the shapes differ}}
  %0 = astra.convert %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<i64, [m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2) the widths differ: 32 and 64 bits}}
  %0 = astra.bitcast %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<i64, [n]>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{(C1) the value has type 'f64'}}
  %0 = astra.constant 1.0 : f64 -> !astra.tensor<f32, []>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{dimension expression}}
  %0 = "astra.dim"() {value = "1 + n"} : () -> !astra.tensor<i64, []>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{(C1) no axis 1}}
  %0 = astra.iota {axis = 1 : i64} -> !astra.tensor<i64, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) 0 axes for an operand of rank 1}}
  %0 = astra.broadcast %x {axes = array<i64>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2) the axes must ascend}}
  %0 = astra.broadcast %x {axes = array<i64: 2>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C3) extent "n" does not stretch to "m"}}
  %0 = astra.broadcast %x {axes = array<i64: 1>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C4) the element types differ}}
  %0 = astra.broadcast %x {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<i64, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) the element types differ}}
  %0 = astra.reshape %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<i64, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) element types or ranks differ}}
  %0 = astra.check_shape %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, 1]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, m]>) {
  // expected-error @+2 {{(C1) perm is no permutation}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.transpose %x {perm = array<i64: 0, 0>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, m]>) {
  // expected-error @+1 {{(C1) the axes must ascend}}
  %0 = astra.flip %x {axes = array<i64: 1, 0>} : !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+2 {{(C1) no operands}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "astra.concat"() {axis = 0 : i64} : () -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+2 {{(C2) no axis 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.concat %x, %x {axis = 1 : i64} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 2]>, %y: !astra.tensor<f32, [n, 3]>) {
  // expected-error @+2 {{(C3) only axis 0 may differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.concat %x, %y {axis = 0 : i64} : (!astra.tensor<f32, [n, 2]>, !astra.tensor<f32, [n, 3]>) -> !astra.tensor<f32, [n, 2]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %y: !astra.tensor<f32, []>) {
  // expected-error @+2 {{(C3) the ranks differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.concat %x, %y {axis = 0 : i64} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %v: !astra.tensor<f32, []>) {
  // expected-error @+2 {{(C1) 0 low and 1 high entries for rank 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.pad %x, %v {low = [], high = ["1"]} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %v: !astra.tensor<i64, []>) {
  // expected-error @+2 {{(C2) the fill has type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.pad %x, %v {low = ["0"], high = ["1"]} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %v: !astra.tensor<f32, []>) {
  // expected-error @+2 {{(C3) negative border at axis 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.pad %x, %v {low = ["-1"], high = ["1"]} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, m]>) {
  // expected-error @+2 {{(C1) the axes must ascend}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.sum %x {axes = array<i64: 0, 2>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, m]>) {
  // expected-error @+2 {{are incompatible with return type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.sum %x {axes = array<i64: 0>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+2 {{(C1) no axis 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.argmax %x {axis = 1 : i64} : (!astra.tensor<f32, [n]>) -> !astra.tensor<i32, []>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) no axis 1}}
  %0 = astra.softmax %x {axis = 1 : i64} : !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, k]>, %y: !astra.tensor<f32, [k, m]>) {
  // expected-error @+2 {{(C1) the lists of axes differ in length}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.contract %x, %y {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, k]>, %y: !astra.tensor<f32, [k, m]>) {
  // expected-error @+2 {{(C2) an axis is listed twice}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.contract %x, %y {batch_a = array<i64: 1>, batch_b = array<i64: 0>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, k]>, %y: !astra.tensor<f32, [k, m]>) {
  // expected-error @+2 {{(C3) paired extents differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.contract %x, %y {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 1>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, k]>, %y: !astra.tensor<i64, [k, m]>) {
  // expected-error @+2 {{(C4) the element types differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.contract %x, %y {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<i64, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // expected-error @+1 {{(C1) ranks do not fit 1 batch axes}}
  %0 = astra.conv %x, %w {batch = 1 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3]>) {
  // expected-error @+1 {{(C1) ranks do not fit 0 batch axes}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 4, 3]>) {
  // expected-error @+1 {{(C2) batch axes, n, o or c differ}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 4, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // expected-error @+1 {{(C2) batch axes, n, o or c differ}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 15, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // expected-error @+1 {{(C2) batch axes, n, o or c differ}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [m, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // expected-error @+1 {{(C3) one entry for each of 1 spatial axes is wanted}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = [], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // expected-error @+1 {{(C4) a stride, spread or dilation is below 1}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["0"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f64, [16, 3, 3]>) {
  // expected-error @+1 {{(C5) the element types differ}}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f64, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 6]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{(C1) lists of 2, 1 and 1 entries}}
  %0 = astra.windows %x {window = ["3", "2"], strides = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>) -> !astra.tensor<f32, [n, 3, 6, 3]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 8]>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{(C2) a size, stride or dilation is below 1}}
  %0 = astra.windows %x {window = ["3"], strides = ["0"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>) -> !astra.tensor<f32, [n, 3, 6, 3]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, 3, 6, 3]>) {
  // expected-error @+1 {{are not the windows of '!astra.tensor<f32, [n, 3, 9]>'}}
  %0 = astra.overlap_add %x {strides = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 6, 3]>) -> !astra.tensor<f32, [n, 3, 9]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) element types or ranks differ}}
  %0 = astra.slice %x {starts = ["0"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, 1]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2) 0 starts for rank 1}}
  %0 = astra.slice %x {starts = [], dynamic_axes = array<i64>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [1]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C3) dynamic axes must ascend and have one index each}}
  %0 = astra.slice %x {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [1]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [4]>) {
  // expected-error @+1 {{(C4) from 3, 2 elements are outside an axis of 4}}
  %0 = astra.slice %x {starts = ["3"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [4]>) -> !astra.tensor<f32, [2]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %v: !astra.tensor<f32, [1, 1]>) {
  // expected-error @+1 {{(C1) element types or ranks differ}}
  %0 = astra.update_slice %x, %v {starts = ["0"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [1, 1]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %j: !astra.tensor<i64, [m]>) {
  // expected-error @+2 {{(C1) 1 index arrays for 0 axes}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.gather %x, %j {axes = array<i64>} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, [m]>) -> !astra.tensor<f32, [m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, n, n]>, %j: !astra.tensor<i64, [m]>) {
  // expected-error @+2 {{(C2) the axes must be adjacent}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.gather %x, %j, %j {axes = array<i64: 0, 2>} : (!astra.tensor<f32, [n, n, n]>, !astra.tensor<i64, [m]>, !astra.tensor<i64, [m]>) -> !astra.tensor<f32, [m, n]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n, n]>, %j: !astra.tensor<i64, [m]>, %k: !astra.tensor<i64, [k]>) {
  // expected-error @+2 {{(C3) the index arrays differ in shape}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.gather %x, %j, %k {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, n]>, !astra.tensor<i64, [m]>, !astra.tensor<i64, [k]>) -> !astra.tensor<f32, [m]>
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, [n]>, %v: !astra.tensor<f32, [k]>, %j: !astra.tensor<i64, [m]>) {
  // expected-error @+2 {{(C4) the value has type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.scatter %x, %v, %j {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [k]>, !astra.tensor<i64, [m]>) -> !astra.tensor<f32, [n]>
  return
}

// -----

func.func @f(%k: !astra.tensor<ui32, [2]>) {
  // expected-error @+1 {{(C1) the elements must be ui32}}
  %0 = astra.random_bits %k : (!astra.tensor<ui32, [2]>) -> !astra.tensor<i64, [n]>
  return
}

// -----

func.func @f(%k: !astra.tensor<ui32, [2]>) {
  // expected-error @+1 {{(C1) the result must be ui32 of shape [n, 2]}}
  %0 = astra.random_split %k : (!astra.tensor<ui32, [2]>) -> !astra.tensor<ui32, [n]>
  return
}

// -----

func.func @f(%k: !astra.tensor<ui32, [3]>) {
  // expected-error @+1 {{must be random key}}
  %0 = astra.random_bits %k : (!astra.tensor<ui32, [3]>) -> !astra.tensor<ui32, [n]>
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f64, [h, m, 4]>) {
  // expected-error @+1 {{(C1) q, k and v must have one element type}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f64, [h, m, 4]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [8]>, %k: !astra.tensor<f32, [8]>, %v: !astra.tensor<f32, [4]>) {
  // expected-error @+1 {{(C1) q, k and v must have one element type}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f32, [8]>, !astra.tensor<f32, [8]>, !astra.tensor<f32, [4]>) -> (!astra.tensor<f32, [4]>, !astra.tensor<f32, []>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [g, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>) {
  // expected-error @+1 {{(C2) the extents do not agree}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [g, m, 8]>, !astra.tensor<f32, [h, m, 4]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, n, 4]>) {
  // expected-error @+1 {{(C2) the extents do not agree}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, n, 4]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>, %b: !astra.tensor<i1, [n, m]>) {
  // expected-error @+1 {{(C2) the mask is no match}}
  %0:2 = astra.attention %q, %k, %v, %b : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>, !astra.tensor<i1, [n, m]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>) {
  // expected-error @+1 {{(C3) the results must be}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>) -> (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f16, [h, n, 8]>, %k: !astra.tensor<f16, [h, m, 8]>, %v: !astra.tensor<f16, [h, m, 4]>) {
  // expected-error @+1 {{(C3) the results must be}}
  %0:2 = astra.attention %q, %k, %v : (!astra.tensor<f16, [h, n, 8]>, !astra.tensor<f16, [h, m, 8]>, !astra.tensor<f16, [h, m, 4]>) -> (!astra.tensor<f16, [h, n, 4]>, !astra.tensor<f16, [h, n]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>, %o: !astra.tensor<f32, [h, n, 4]>, %s: !astra.tensor<f32, [h, n]>, %d: !astra.tensor<f32, [h, n, 8]>) {
  // expected-error @+1 {{(C3) a cotangent has another type than its value}}
  %0:3 = astra.attention_grad %q, %k, %v, %o, %s, %d : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>, !astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>, !astra.tensor<f32, [h, n, 8]>) -> (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>)
  return
}

// -----

func.func @f(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>, %o: !astra.tensor<f32, [h, n, 4]>, %s: !astra.tensor<f32, [h, n]>, %d: !astra.tensor<f32, [h, n, 4]>) {
  // expected-error @+1 {{(C3) a cotangent has another type than its value}}
  %0:3 = astra.attention_grad %q, %k, %v, %o, %s, %d : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>, !astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>, !astra.tensor<f32, [h, n, 4]>) -> (!astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>)
  return
}
