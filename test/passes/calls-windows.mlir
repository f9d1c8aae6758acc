// RUN: astra-opt %s --astra-calls | FileCheck %s

// A convolution is a product over a view of x as its windows, [n, place, channel,
// place in the window]; the result is written in its own order.
// CHECK-LABEL: func.func @valid
// CHECK-SAME: calls.workspace = "0"
// CHECK-NEXT: %[[A:.*]] = calls.view %arg0 {{.*}} -> <f32, [n, "(h - 5) / 2 + 1", 3, 5], ["stride0@0", "2*stride2@0", "stride1@0", "stride2@0"]>
// CHECK-NEXT: %[[B:.*]] = calls.view %arg1 {{.*}} -> <f32, [3, 5, 8], ["stride1@1", "stride2@1", "stride0@1"]>
// CHECK-NEXT: %[[Y:.*]] = calls.view %arg2 {{.*}} -> <f32, [n, "(h - 5) / 2 + 1", 8],
// CHECK-NEXT: calls.kernel "contract_f32" {{.*}}(%[[A]], %[[B]]) -> (%[[Y]]) params [0, 2]
// CHECK-NEXT: return
func.func @valid(%x: !astra.tensor<f32, [n, 3, h]>, %w: !astra.tensor<f32, [8, 3, 5]>) -> !astra.tensor<f32, [n, 8, "(h - 5) / 2 + 1"]> attributes {astra.export = {dims = ["n", "h"]}} {
  %y = astra.conv %x, %w {batch = 0 : i64, strides = ["2"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, h]>, !astra.tensor<f32, [8, 3, 5]>) -> !astra.tensor<f32, [n, 8, "(h - 5) / 2 + 1"]>
  return %y : !astra.tensor<f32, [n, 8, "(h - 5) / 2 + 1"]>
}

// So is its derivative in w, where stride and dilation have changed places.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: calls.alloc
// CHECK: calls.kernel "contract_f32"
func.func @turned(%x: !astra.tensor<f32, [3, n, h]>, %d: !astra.tensor<f32, [8, n, "(h - 5) / 2 + 1"]>) -> !astra.tensor<f32, [3, 8, 5]> attributes {astra.export = {dims = ["n", "h"]}} {
  %y = astra.conv %x, %d {batch = 0 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["2"]} : (!astra.tensor<f32, [3, n, h]>, !astra.tensor<f32, [8, n, "(h - 5) / 2 + 1"]>) -> !astra.tensor<f32, [3, 8, 5]>
  return %y : !astra.tensor<f32, [3, 8, 5]>
}

// Only what has zeros around or between its elements is copied, by numbers that may
// be known when the program runs.
// CHECK-LABEL: func.func @padded
// CHECK: %[[K:.*]] = calls.dim "k - 1"
// CHECK: calls.store %[[K]], %[[LOW:.*]] : i64
// CHECK: %[[X:.*]] = calls.alloc at "{{.*}}" : <f32, [b, n, 3, "k + 7"
// CHECK: calls.kernel "set_out_b32" {{.*}}(%arg0, %[[LOW]], {{.*}}) -> (%[[X]]) params [4]
// CHECK: %[[A:.*]] = calls.view %[[X]] {{.*}} -> <f32, [b, n, 8, 6, 3, k, 3],
// CHECK: calls.kernel "contract_f32" {{.*}}(%[[A]], {{.*}} params [1, 3]
func.func @padded(%x: !astra.tensor<f32, [b, n, 3, 8, 8]>, %w: !astra.tensor<f32, [b, 8, 3, k, 3]>) -> !astra.tensor<f32, [b, n, 8, 8, 6]> attributes {astra.export = {dims = ["b", "n", "k"]}} {
  %y = astra.conv %x, %w {batch = 1 : i64, strides = ["1", "1"], low = ["k - 1", "0"], spread = ["1", "1"], dilations = ["1", "1"]} : (!astra.tensor<f32, [b, n, 3, 8, 8]>, !astra.tensor<f32, [b, 8, 3, k, 3]>) -> !astra.tensor<f32, [b, n, 8, 8, 6]>
  return %y : !astra.tensor<f32, [b, n, 8, 8, 6]>
}

// Zeros around f32 are the work of one kernel.
// CHECK-LABEL: func.func @around
// CHECK-SAME: calls.workspace = "0"
// CHECK: %[[STRIDE:.*]] = calls.constant 2 : i64
// CHECK-NOT: set_out
// CHECK: calls.kernel "conv_f32" {{.*}}(%arg1, %arg0, {{.*}}, %[[STRIDE]], {{.*}}) -> (%arg2) params [6, 3]
func.func @around(%x: !astra.tensor<f32, [n, 3, 8, 8]>, %w: !astra.tensor<f32, [8, 3, 3, 3]>) -> !astra.tensor<f32, [n, 8, 8, 4]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.conv %x, %w {batch = 0 : i64, strides = ["1", "2"], low = ["1", "1"], spread = ["1", "1"], dilations = ["1", "1"]} : (!astra.tensor<f32, [n, 3, 8, 8]>, !astra.tensor<f32, [8, 3, 3, 3]>) -> !astra.tensor<f32, [n, 8, 8, 4]>
  return %y : !astra.tensor<f32, [n, 8, 8, 4]>
}

// Few outputs are the rows, not the columns.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[X:.*]] = calls.view %arg0 {{.*}} -> <f32, [c, 1, 3, n, 6],
// CHECK: calls.kernel "contract_f32" {{.*}}(%arg1, %[[X]]) -> {{.*}} params [1, 2]
func.func @narrow(%x: !astra.tensor<f32, [c, n, 1, 8]>, %w: !astra.tensor<f32, [c, 2, 1, 3]>) -> !astra.tensor<f32, [c, n, 2, 6]> attributes {astra.export = {dims = ["c", "n"]}} {
  %y = astra.conv %x, %w {batch = 1 : i64, strides = ["1"], low = ["0"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [c, n, 1, 8]>, !astra.tensor<f32, [c, 2, 1, 3]>) -> !astra.tensor<f32, [c, n, 2, 6]>
  return %y : !astra.tensor<f32, [c, n, 2, 6]>
}

// Windows are added to zeros, where they lie; f16 in f32, rounded once.
// CHECK-LABEL: func.func @added
// CHECK: calls.kernel "convert_f16_f32"
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[SUM:.*]]) params []
// CHECK: %[[WINDOWS:.*]] = calls.view %[[SUM]] {{.*}} -> <f32, [n, 6, 3], [8, 1, 1]>
// CHECK: calls.kernel "overlap_add_f32" {{.*}} -> (%[[WINDOWS]]) params [1]
// CHECK: calls.kernel "convert_f32_f16" {{.*}}(%[[SUM]])
func.func @added(%x: !astra.tensor<f16, [n, 6, 3]>) -> !astra.tensor<f16, [n, 8]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.overlap_add %x {strides = ["1"], dilations = ["1"]} : (!astra.tensor<f16, [n, 6, 3]>) -> !astra.tensor<f16, [n, 8]>
  return %y : !astra.tensor<f16, [n, 8]>
}

// Pooling copies no window: places side by side where they are few.
// CHECK-LABEL: func.func @greatest
// CHECK: %[[P:.*]] = calls.view %{{.*}} offset "0" {{.*}} -> <f32, [n, 4], ["stride0@0", "2*stride1@0"]>
// CHECK: %[[Q:.*]] = calls.view %{{.*}} offset "stride1@0" {{.*}} -> <f32, [n, 4], ["stride0@0", "2*stride1@0"]>
// CHECK: calls.kernel "copy_b32" {{.*}}(%[[P]]) -> (%arg1)
// CHECK: calls.kernel "maximum_f32" {{.*}}(%arg1, %[[Q]]) -> (%arg1)
func.func @greatest(%x: !astra.tensor<f32, [n, 8]>) -> !astra.tensor<f32, [n, 4]> attributes {astra.export = {dims = ["n"]}} {
  %w = astra.windows %x {window = ["2"], strides = ["2"], dilations = ["1"]} : (!astra.tensor<f32, [n, 8]>) -> !astra.tensor<f32, [n, 4, 2]>
  %y = astra.first_max %w {axes = array<i64: 2>} : (!astra.tensor<f32, [n, 4, 2]>) -> !astra.tensor<f32, [n, 4]>
  return %y : !astra.tensor<f32, [n, 4]>
}

// A window as large as the tensor is a reduction.
// CHECK-LABEL: func.func @whole
// CHECK: calls.kernel "max_f32" {{.*}} params [1, 2]
func.func @whole(%x: !astra.tensor<f32, [n, h]>) -> !astra.tensor<f32, [n, "(h - k) / k + 1"]> attributes {astra.export = {dims = ["n", "h", "k"]}} {
  %w = astra.windows %x {window = ["k"], strides = ["k"], dilations = ["1"]} : (!astra.tensor<f32, [n, h]>) -> !astra.tensor<f32, [n, "(h - k) / k + 1", k]>
  %y = astra.first_max %w {axes = array<i64: 2>} : (!astra.tensor<f32, [n, "(h - k) / k + 1", k]>) -> !astra.tensor<f32, [n, "(h - k) / k + 1"]>
  return %y : !astra.tensor<f32, [n, "(h - k) / k + 1"]>
}

// So are sums of few: lane 0 from +0, then the folds of the canonical order.
// CHECK-LABEL: func.func @summed
// CHECK-SAME: %arg1: !calls.view<f32, [n, 4], [4, 1]>
// CHECK: %[[P0:.*]] = calls.view %{{.*}} offset "0" {{.*}} -> <f32, [n, 4], ["stride0@0", "2*stride1@0"]>
// CHECK: %[[P1:.*]] = calls.view %{{.*}} offset "stride1@0"
// CHECK: %[[P2:.*]] = calls.view %{{.*}} offset "2*stride1@0"
// CHECK: calls.kernel "add_f32" {{.*}}(%[[P0]], %{{.*}}) -> (%arg1)
// CHECK: calls.kernel "add_f32" {{.*}}(%arg1, %[[P2]]) -> (%arg1)
// CHECK: calls.kernel "add_f32" {{.*}}(%arg1, %[[P1]]) -> (%arg1)
func.func @summed(%x: !astra.tensor<f32, [n, 9]>) -> !astra.tensor<f32, [n, 4]> attributes {astra.export = {dims = ["n"]}} {
  %w = astra.windows %x {window = ["3"], strides = ["2"], dilations = ["1"]} : (!astra.tensor<f32, [n, 9]>) -> !astra.tensor<f32, [n, 4, 3]>
  %y = astra.sum %w {axes = array<i64: 2>} : (!astra.tensor<f32, [n, 4, 3]>) -> !astra.tensor<f32, [n, 4]>
  return %y : !astra.tensor<f32, [n, 4]>
}
