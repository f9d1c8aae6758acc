"""Linear algebra for the evaluator, in Python's floats and by the plainest methods:
elimination, minors, Jacobi's rotations, Gram and Schmidt. It shares nothing with the
kernels. A matrix is a list of rows."""
import math


def transpose(a):
    return [list(row) for row in zip(*a)]


def product(a, b):
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def symmetric(a):
    n = len(a)
    return [[(a[i][j] + a[j][i]) / 2 for j in range(n)] for i in range(n)]


def cholesky(a):
    a, n = symmetric(a), len(a)
    l = [[0.0] * n for _ in a]
    for j in range(n):
        l[j][j] = math.sqrt(a[j][j] - math.fsum(x * x for x in l[j][:j]))
        for i in range(j + 1, n):
            l[i][j] = (a[i][j] - math.fsum(x * y for x, y in zip(l[i][:j], l[j][:j]))) / l[j][j]
    return [l]


def solve(a, b):
    """Gauss and Jordan, the largest pivot of each column."""
    n = len(a)
    rows = [list(r) + list(s) for r, s in zip(a, b)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    return [[r[n:] for r in rows]]


def inv(a):
    return solve(a, identity(len(a)))


def minor(a, i, j):
    return [row[:j] + row[j + 1:] for k, row in enumerate(a) if k != i]


def determinant(a):
    if not a:
        return 1.0
    return math.fsum((-1) ** j * a[0][j] * determinant(minor(a, 0, j)) for j in range(len(a)))


def det(a):
    return [determinant(a)]


def slogdet(a):
    d = determinant(a)
    return [float((d > 0) - (d < 0)), math.log(abs(d)) if d else -math.inf]


def cofactor(a):
    n = len(a)
    return [[[(-1) ** (i + j) * determinant(minor(a, i, j)) for j in range(n)] for i in range(n)]]


def solve_triangular(a, b, lower, transposed, unit):
    n = len(a)
    keep = [[a[i][j] if (i > j if lower else i < j) or (i == j and not unit) else float(i == j)
             for j in range(n)] for i in range(n)]
    return solve(transpose(keep) if transposed else keep, b)


def rotate(rows, p, q, c, s):
    x, y = rows[p], rows[q]
    rows[p] = [c * u - s * v for u, v in zip(x, y)]
    rows[q] = [s * u + c * v for u, v in zip(x, y)]


def angle(pp, qq, pq):
    """Of the rotation by at most 45 degrees that makes pq zero."""
    theta = (qq - pp) / (2 * pq)
    t = math.copysign(1.0, theta) / (abs(theta) + math.hypot(theta, 1.0))
    c = 1 / math.hypot(t, 1.0)
    return c, t * c


def singular(a):
    """Columns of a rotated until they are orthogonal: u, s, v by columns."""
    columns, n = transpose(a), len(a[0])
    v = identity(n)
    dot = lambda x, y: math.fsum(p * q for p, q in zip(x, y))
    for _ in range(60):
        for p in range(n):
            for q in range(p + 1, n):
                pq = dot(columns[p], columns[q])
                if pq * pq > 1e-36 * dot(columns[p], columns[p]) * dot(columns[q], columns[q]):
                    c, s = angle(dot(columns[p], columns[p]), dot(columns[q], columns[q]), pq)
                    rotate(columns, p, q, c, s)
                    rotate(v, p, q, c, s)
    s = [math.sqrt(dot(x, x)) for x in columns]
    order = sorted(range(n), key=lambda i: -s[i])
    return ([[x / s[i] for x in columns[i]] for i in order], [s[i] for i in order],
            [v[i] for i in order])


def svd(a):
    if len(a) < len(a[0]):
        v, s, u = singular(transpose(a))
    else:
        u, s, v = singular(a)
    return [transpose(u), s, v]


def eigh(a):
    """Jacobi's method: rotations of rows and columns until a is diagonal."""
    a, n = symmetric(a), len(a)
    v = identity(n)
    for _ in range(60):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p][q]) > 1e-300:
                    c, s = angle(a[p][p], a[q][q], a[p][q])
                    rotate(a, p, q, c, s)
                    a = transpose(a)
                    rotate(a, p, q, c, s)
                    rotate(v, p, q, c, s)
    order = sorted(range(n), key=lambda i: a[i][i])
    return [[a[i][i] for i in order], transpose([v[i] for i in order])]


def qr(a):
    """Each column made orthogonal to those before it, twice."""
    columns, k = transpose(a), min(len(a), len(a[0]))
    q = []
    for x in columns[:k]:
        for _ in range(2):
            for y in q:
                d = math.fsum(u * v for u, v in zip(x, y))
                x = [u - d * v for u, v in zip(x, y)]
        norm = math.sqrt(math.fsum(u * u for u in x))
        q.append([u / norm for u in x])
    r = product(q, a)
    return [transpose(q), [[x if j >= i else 0.0 for j, x in enumerate(row)]
                           for i, row in enumerate(r)]]


def lstsq(a, b):
    u, s, vt = svd(a)
    c = product(transpose(u), b)
    scaled = [[x / sigma if sigma > 1e-13 * s[0] else 0.0 for x in row] for row, sigma in zip(c, s)]
    return [product(transpose(vt), scaled)]
