// What cannot be differentiated is refused with its reason.
// RUN: astra-opt %s -astra-differentiate -split-input-file -verify-diagnostics

func.func @no_rule(%x: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    // expected-error @below {{E0707: `polygamma` cannot be differentiated: it is a derivative of order 32 itself, the highest there is}}
    %y = astra.polygamma %a, 32 : !astra.tensor<f32, []>
    astra.yield %y : !astra.tensor<f32, []>
  }
  return %r#1 : !astra.tensor<f32, []>
}

// -----

func.func @reverse_only(%x: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  %r:2 = astra.jvp(%x, %d) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    // expected-error @below {{E0708: this function has a derivative rule for the reverse direction only; add a `jvp` rule to it}}
    %y = astra.custom_derivative(%a) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
    ^bb0(%b: !astra.tensor<f32, []>):
      %e = astra.exp %b : !astra.tensor<f32, []>
      astra.yield %e : !astra.tensor<f32, []>
    } vjp {
    ^bb0(%b: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
      astra.yield %e : !astra.tensor<f32, []>
    } jvp {
    }
    astra.yield %y : !astra.tensor<f32, []>
  }
  return %r#1 : !astra.tensor<f32, []>
}

// -----

func.func @capture(%x: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    // expected-error @below {{a function with its own derivative uses a value from outside that is differentiated; make it a parameter}}
    %y = astra.custom_derivative(%a) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
    ^bb0(%b: !astra.tensor<f32, []>):
      %e = astra.mul %b, %a : !astra.tensor<f32, []>
      astra.yield %e : !astra.tensor<f32, []>
    } vjp {
    ^bb0(%b: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
      astra.yield %e : !astra.tensor<f32, []>
    } jvp {
    }
    astra.yield %y : !astra.tensor<f32, []>
  }
  return %r#1 : !astra.tensor<f32, []>
}
