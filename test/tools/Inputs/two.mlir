module attributes {astra.module = "two"} {
  func.func @twice(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {doc = "Doubles.", dims = ["n"], in_values = [{name = "x", type = "f32[n]", tree = "", leaves = ["x"]}]}} {
    %y = astra.add %x, %x : !astra.tensor<f32, [n]>
    return %y : !astra.tensor<f32, [n]>
  }
  func.func @test.0() attributes {astra.test = "one is one"} {
    %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
    astra.assert_eq %one, %one, "1, 1" : !astra.tensor<f32, []>
    return
  }
  func.func @test.1() attributes {astra.test = "one is two"} {
    %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
    %two = astra.constant 2.0 : f32 -> !astra.tensor<f32, []>
    astra.assert_eq %one, %two, "1, 2" : !astra.tensor<f32, []>
    return
  }
}
