"""Linear algebra, matrix by matrix: the methods stand in linalg.py."""
import linalg
from tensors import Tensor, size


class LinalgOperations:
    """Methods of Evaluator, with the arguments that ShapeOperations' have."""

    def matrices(self, t):
        batch, (m, n) = size(t.shape[:-2]), t.shape[-2:]
        return [[t.data[(k * m + i) * n:(k * m + i + 1) * n] for i in range(m)] for k in range(batch)]

    def op_linalg(self, op, x, a, shape, kind, env):
        flags = [bool(a.get(k)) for k in ("lower", "transpose", "unit_diagonal")]
        extra = flags if op.name == "solve_triangular" else []
        found = [getattr(linalg, op.name)(*each, *extra)
                 for each in zip(*(self.matrices(t) for t in x))]
        return [Tensor(self.shape(type), [v for f in found for v in leaves(f[i])], type[0])
                for i, type in enumerate(op.types)]

    op_cholesky = op_inv = op_cofactor = op_det = op_slogdet = op_linalg
    op_solve = op_solve_triangular = op_lstsq = op_eigh = op_qr = op_svd = op_linalg


def leaves(value):
    """The numbers of nested lists in their order."""
    return [v for part in value for v in leaves(part)] if isinstance(value, list) else [value]
