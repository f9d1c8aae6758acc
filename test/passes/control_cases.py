"""Cases of control flow and of what has a region."""
from case_tools import I64, case, ints, t

S, B = t(), t(kind="i1")
case("if", f"""%h = astra.constant 0.5 : f64 -> {S}
%c = astra.lt %a0, %h : ({S}, {S}) -> {B}
%y = astra.if %c : {B} -> {S} {{
  %e = astra.exp %a0 : {S}
  %f = astra.sin %e : {S}
  astra.yield %f : {S}
}} else {{
  %e = astra.mul %a0, %a1 : {S}
  %f = astra.mul %e, %a1 : {S}
  astra.yield %f : {S}
}}""", [((), 0, 1), ((), 0, 1)], ())
case("for", f"""%b = astra.constant 0 : i64 -> {t(kind=I64)}
%e = astra.dim "n" -> {t(kind=I64)}
%z = astra.constant 0.3 : f64 -> {S}
%y = astra.for %b to %e init(%z) : {t(kind=I64)}, ({S}) -> {S} {{
^bb0(%i: {t(kind=I64)}, %s: {S}):
  %x0 = astra.slice %a0, %i {{starts = ["0"], dynamic_axes = {ints(0)}}} : ({t('n')}, {t(kind=I64)}) -> {t(1)}
  %x = astra.reshape %x0 : ({t(1)}) -> {S}
  %p = astra.mul %s, %a1 : {S}
  %q = astra.add %p, %x : {S}
  %r = astra.sin %q : {S}
  astra.yield %r : {S}
}}""", [(("n",), -1, 1), ((), 0.5, 1)], ())
case("for", f"""%b = astra.constant 2 : i64 -> {t(kind=I64)}
%z = astra.constant 0.3 : f64 -> {S}
%y, %other = astra.for %b to %a1 init(%z, %a0) : {t(kind=I64)}, ({S}, {S}) -> ({S}, {S}) {{
^bb0(%i: {t(kind=I64)}, %s: {S}, %v: {S}):
  %f = astra.convert %i : ({t(kind=I64)}) -> {S}
  %p = astra.mul %s, %a0 : {S}
  %q = astra.add %p, %v : {S}
  %u = astra.div %q, %f : {S}
  %r = astra.sin %u : {S}
  astra.yield %r, %q : {S}, {S}
}}""", [((), 0.5, 1), ((), [9], I64, 0)], ())
case("for", f"""%b = astra.constant 0 : i64 -> {t(kind=I64)}
%e = astra.constant 150 : i64 -> {t(kind=I64)}
%y = astra.for %b to %e init(%a0) : {t(kind=I64)}, ({S}) -> {S} attributes {{checkpoint}} {{
^bb0(%i: {t(kind=I64)}, %s: {S}):
  %p = astra.sin %s : {S}
  %q = astra.mul %p, %a1 : {S}
  %r = astra.add %q, %a0 : {S}
  astra.yield %r : {S}
}}""", [((), 0.5, 1), ((), 0.9, 1)], ())
case("while", f"""%h = astra.constant 0.2 : f64 -> {S}
%y = astra.while init(%a0) : ({S}) -> {S} cond {{
^bb0(%s: {S}):
  %c = astra.gt %s, %h : ({S}, {S}) -> {B}
  astra.yield %c : {B}
}} do {{
^bb0(%s: {S}):
  %p = astra.sin %s : {S}
  %q = astra.mul %p, %a1 : {S}
  astra.yield %q : {S}
}}""", [((), 0.5, 1), ((), 0.7, 0.9)], ())
case("scan", f"""%z = astra.constant 0.1 : f64 -> {S}
%h, %ys = astra.scan(%z, %a0) length "n" state 1 : ({S}, {t('n')}) -> ({S}, {t('n')}) {{
^bb0(%s: {S}, %x: {S}):
  %p = astra.mul %s, %a1 : {S}
  %q = astra.add %p, %x : {S}
  %r = astra.sin %q : {S}
  %v = astra.mul %r, %x : {S}
  astra.yield %r, %v : {S}, {S}
}}
%hb = astra.broadcast %h {{axes = {ints()}}} : ({S}) -> {t('n')}
%y = astra.add %ys, %hb : {t('n')}""", [(("n",), -1, 1), ((), 0.5, 1)], ("n",))
case("map", f"""%y = astra.map(%a0, %a1) length "n" axes [1, -1] : ({t(2, 'n')}, {t(2)}) -> {t('n', 2)} {{
^bb0(%x: {t(2)}, %w: {t(2)}):
  %p = astra.mul %x, %w : {t(2)}
  %q = astra.sin %p : {t(2)}
  astra.yield %q : {t(2)}
}}""", [((2, "n"), -1, 1), ((2,), -1, 1)], ("n", 2))
case("reduce", f"""%y, %other = astra.reduce(%a0, %a1, %a2, %a3) length "n" : ({S}, {S}, {t('n')}, {t('n')}) -> ({S}, {S}) {{
^bb0(%p: {S}, %q: {S}, %u: {S}, %v: {S}):
  %pu = astra.mul %p, %u : {S}
  %qu = astra.mul %q, %u : {S}
  %w = astra.add %qu, %v : {S}
  astra.yield %pu, %w : {S}, {S}
}}""", [((), 0.5, 1), ((), 0.5, 1), (("n",), 0.5, 1), (("n",), 0.5, 1)], ())
case("remat", f"""%y = astra.remat(%a0) : ({t(3)}) -> {t(3)} {{
^bb0(%x: {t(3)}):
  %p = astra.sin %x : {t(3)}
  %q = astra.mul %p, %a1 : {t(3)}
  %r = astra.exp %q : {t(3)}
  astra.yield %r : {t(3)}
}}""", [((3,), -1, 1), ((3,), -1, 1)], (3,))
case("custom_derivative", f"""%y = astra.custom_derivative(%a0) : ({t(3)}) -> {t(3)} primal {{
^bb0(%x: {t(3)}):
  %p = astra.sin %x : {t(3)}
  astra.yield %p : {t(3)}
}} vjp {{
}} jvp {{
^bb0(%x: {t(3)}, %e: {t(3)}):
  %c = astra.cos %x : {t(3)}
  %g = astra.mul %c, %e : {t(3)}
  astra.yield %g : {t(3)}
}}""", [((3,), -1, 1)], (3,))
