"""Cases of the elementwise operations."""
from case_tools import I64, case, ints, plain, t


def unary(name, low=-1.5, high=1.5, attrs="", smooth=2):
    case(name, f"%y = astra.{name} %a0{attrs} : {t(3)}", [((3,), low, high)], (3,),
         smooth=smooth)


for op in ("neg exp exp2 expm1 sin cos tan sinh cosh tanh sech2 sigmoid log_sigmoid softplus "
           "gelu silu erf erfc atan cbrt").split():
    unary(op, *((0.3, 1.5) if op == "cbrt" else ()))
for op in "log log2 log10 sqrt rsqrt lgamma digamma trigamma".split():
    unary(op, 0.6, 2.5)
for order in (0, 1, 2, 3):
    unary("polygamma", 0.8, 2.5, attrs=f", {order}")
    unary("sinc", attrs=f", {order}")
    unary("exprel", attrs=f", {order}")
for op in "asin acos erfinv log1p".split():
    unary(op, -0.7, 0.7)
for op in "abs relu sign floor ceil round".split():
    unary(op, 0.1, 0.4)
    unary(op, -0.4, -0.1)
for exponent in (0, 1, 2, 3, 5):
    unary("pow_int", attrs=f", {exponent}")
for op in "add sub mul div rem pow atan2 maximum minimum".split():
    case(op, f"%y = astra.{op} %a0, %a1 : {t(3)}",
         [((3,), 0.5, 1.4), ((3,), 1.5, 2.0)], (3,))
case("pow", f"%c = astra.constant 2.5 : f64 -> {t(3)}\n%y = astra.pow %a0, %c : {t(3)}",
     [((3,), 0.5, 1.5)], (3,))
case("select", f"""%z = astra.constant 0.5 : f64 -> {t(4)}
%c = astra.lt %a0, %z : ({t(4)}, {t(4)}) -> {t(4, kind='i1')}
%s = astra.mul %a0, %a1 : {t(4)}
%e = astra.exp %a1 : {t(4)}
%y = astra.select %c, %s, %e : ({t(4, kind='i1')}, {t(4)}, {t(4)}) -> {t(4)}""",
     [((4,), 0, 1), ((4,), 0, 1)], (4,))
case("convert", f"""%h = astra.convert %a0 : ({t(3)}) -> {t(3, kind='f32')}
%m = astra.mul %h, %h : {t(3, kind='f32')}
%y = astra.convert %m : ({t(3, kind='f32')}) -> {t(3)}""", [((3,), -1, 1)], (3,))
case("debug", f'%k = astra.debug %a0, "x" : {t(3)}\n%y = astra.sin %k : {t(3)}',
     [((3,), -1, 1)], (3,))

# What has no derivative.
for op in "eq ne lt le gt ge".split():
    plain(op, f"%y = astra.{op} %a0, %a1 : ({t(3)}, {t(3)}) -> {t(3, kind='i1')}",
          [((3,), -1, 1), ((3,), -1, 1)], (3,), "i1")
for op in "is_nan is_inf".split():
    plain(op, f"%y = astra.{op} %a0 : ({t(3)}) -> {t(3, kind='i1')}", [((3,), -1, 1)], (3,), "i1")
for op in "and or xor shift_left shift_right".split():
    plain(op, f"%y = astra.{op} %a0, %a1 : {t(3, kind=I64)}",
          [((3,), [5, 6, 12], I64, 0), ((3,), [1, 2, 3], I64, 0)], (3,), I64)
plain("not", f"%y = astra.not %a0 : {t(3, kind=I64)}", [((3,), [5, 6, 12], I64, 0)], (3,), I64)
plain("stop_gradient", f"%y = astra.stop_gradient %a0 : {t(3)}", [((3,), 0.5, 2)], (3,), "f64")
plain("bitcast", f"%y = astra.bitcast %a0 : ({t(3, kind=I64)}) -> {t(3, kind='ui64')}",
      [((3,), [5, 6, 12], I64, 0)], (3,), "ui64")
