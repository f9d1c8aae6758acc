// Each constraint of operations with regions, broken.
// RUN: astra-opt %s -split-input-file -verify-diagnostics

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C1) a branch has arguments}}
  %0 = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } else {
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C2) the yielded values differ: value 0 has type}}
  %0 = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, []> {
    astra.yield %x : !astra.tensor<f32, []>
  } else {
    astra.yield %c : !astra.tensor<i1, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C2) the yielded values are 0 values, not 1}}
  %0 = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, []> {
    astra.yield %x : !astra.tensor<f32, []>
  } else {
    astra.yield
  }
  return
}

// -----

func.func @f(%n: !astra.tensor<i64, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0 = astra.for %n to %n init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%i: !astra.tensor<f32, []>, %a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%n: !astra.tensor<i64, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C2) the yielded values differ}}
  %0 = astra.for %n to %n init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%i: !astra.tensor<i64, []>, %a: !astra.tensor<f32, []>):
    astra.yield %i : !astra.tensor<i64, []>
  }
  return
}

// -----

func.func @f(%n: !astra.tensor<i64, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C3) the results differ}}
  %0 = astra.for %n to %n init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, []>) -> !astra.tensor<i64, []> {
  ^bb0(%i: !astra.tensor<i64, []>, %a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0 = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %c : !astra.tensor<i1, []>
  } do {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C2) the yielded values differ}}
  %0 = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } do {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C3) the yielded values differ}}
  %0 = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %c : !astra.tensor<i1, []>
  } do {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %c : !astra.tensor<i1, []>
  }
  return
}

// -----

func.func @f(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>) {
  // expected-error @+1 {{(C4) the results differ}}
  %0 = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<i64, []> cond {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %c : !astra.tensor<i1, []>
  } do {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) 3 states, but 2 inputs}}
  %0:2 = astra.scan(%h, %xs) length "n" state 3 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a, %e : !astra.tensor<f32, []>, !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) axis 0 of}}
  %0:2 = astra.scan(%h, %xs) length "m" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a, %e : !astra.tensor<f32, []>, !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2) the region's arguments differ}}
  %0:2 = astra.scan(%h, %xs) length "n" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, [n]>):
    astra.yield %a, %a : !astra.tensor<f32, []>, !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C3) the region does not yield the state's types first}}
  %0:2 = astra.scan(%h, %xs) length "n" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield 
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C4) the results differ}}
  %0:2 = astra.scan(%h, %xs) length "n" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a, %e : !astra.tensor<f32, []>, !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) 2 axes for 1 inputs}}
  %0 = astra.map(%xs) length "n" axes [0, 0] : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) no axis 1}}
  %0 = astra.map(%xs) length "n" axes [1] : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2) axis 0 of}}
  %0 = astra.map(%xs) length "m" axes [0] : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C3) the region's arguments differ}}
  %0 = astra.map(%xs) length "n" axes [0] : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, [n]>):
    astra.yield %a : !astra.tensor<f32, [n]>
  }
  return
}

// -----

func.func @f(%xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C4) the results differ}}
  %0 = astra.map(%xs) length "n" axes [0] : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C1) not as many initial values as arrays}}
  %0 = astra.reduce(%h) length "n" : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C2)}}
  %0 = astra.reduce(%h, %xs) length "m" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C3) the region's arguments are 1 values, not 2}}
  %0 = astra.reduce(%h, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C4) the yielded values differ}}
  %0 = astra.reduce(%h, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %xs : !astra.tensor<f32, [n]>
  }
  return
}

// -----

func.func @f(%h: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{(C5) the results differ}}
  %0 = astra.reduce(%h, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) 3 arguments, but 2 inputs}}
  %0:2 = astra.vjp(%x, %x) args 3 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0:2 = astra.vjp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C3) wrt lists 1, which is no float argument}}
  %0:2 = astra.vjp(%x, %x) args 1 wrt [1] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C3) wrt lists 0, which is no float argument}}
  %0:2 = astra.vjp(%k, %x) args 1 wrt [0] : (!astra.tensor<i64, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) the cotangents differ}}
  %0:2 = astra.vjp(%x, %k) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<i64, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C4) the results differ}}
  %0:2 = astra.vjp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<i64, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) 3 arguments, but 2 inputs}}
  %0:2 = astra.jvp(%x, %x) args 3 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0:2 = astra.jvp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) wrt lists 1, which is no float argument}}
  %0:2 = astra.jvp(%x, %x) args 1 wrt [1] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) wrt lists 0, which is no float argument}}
  %0:2 = astra.jvp(%k, %x) args 1 wrt [0] : (!astra.tensor<i64, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C3) the tangents differ}}
  %0:2 = astra.jvp(%x, %k) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<i64, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C4) the results differ}}
  %0:2 = astra.jvp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<i64, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  } vjp {
  ^bb0(%a: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>):
    astra.yield %d : !astra.tensor<f32, []>
  } jvp {
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) the yielded values differ}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %k : !astra.tensor<i64, []>
  } vjp {
  ^bb0(%a: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>):
    astra.yield %d : !astra.tensor<f32, []>
  } jvp {
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) the region's arguments are 1 values, not 2}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } vjp {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } jvp {
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) the yielded values differ}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } vjp {
  ^bb0(%a: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>):
    astra.yield %k : !astra.tensor<i64, []>
  } jvp {
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C3) the region's arguments are 1 values, not 2}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } vjp {
  } jvp {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C4) there is no rule}}
  %0 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } vjp {
  } jvp {
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C1) the region's arguments differ}}
  %0 = astra.remat(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<i64, []>):
    astra.yield %x : !astra.tensor<f32, []>
  }
  return
}

// -----

func.func @f(%x: !astra.tensor<f32, []>, %k: !astra.tensor<i64, []>) {
  // expected-error @+1 {{(C2) the yielded values differ}}
  %0 = astra.remat(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %k : !astra.tensor<i64, []>
  }
  return
}
