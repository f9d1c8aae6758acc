"""Cases of attention: without and with a mask, one row of which sees nothing, causal
and with a scale. The second result of attention has no derivative of its own."""
from case_tools import case, t

MASK = [True, False, True, True, True, False, False, False, False] * 2


def attention(batch, n, m, d, e, masked=False, attributes=""):
    q, k, v, o = (batch + s for s in ((n, d), (m, d), (m, e), (n, e)))
    args = [(s, -1, 1) for s in (q, k, v)]
    types = ", ".join(map(lambda s: t(*s), (q, k, v)))
    mask = ""
    if masked:
        count = n * m * (batch[0] if batch else 1)
        args.append((batch + (n, m), MASK[:count], "i1", 0))
        mask, types = ", %a3", f"{types}, {t(*batch, n, m, kind='i1')}"
    results = f"({t(*o)}, {t(*batch, n)})"
    forward = f"astra.attention %a0, %a1, %a2{mask} {{{attributes}}} : ({types}) -> {results}"
    case("attention", f"%y, %s = {forward}", args, o)
    # The gradient, of cotangents that are an argument more.
    extra = len(args)
    last = f"%a{extra}"
    mask_type = f", {t(*batch, n, m, kind='i1')}" if masked else ""
    operands = ", ".join(map(lambda s: t(*s), (q, k, v, o))) + f", {t(*batch, n)}, {t(*o)}{mask_type}"
    case("attention_grad", f"""%o, %s = {forward}
%y:3 = astra.attention_grad %a0, %a1, %a2, %o, %s, {last}{mask} {{{attributes}}} : ({operands}) -> ({t(*q)}, {t(*k)}, {t(*v)})""",
         args + [(o, -1, 1)], [q, k, v], kind=["f64", "f64", "f64"])


attention((), 2, 3, 2, 1)
attention((), 3, 2, 1, 2, attributes="causal")
attention((2,), 3, 3, 2, 2, masked=True)
attention((), 3, 3, 2, 1, masked=True, attributes="causal, scale = 0.5 : f64")
