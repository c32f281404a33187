"""Entries as operators of torch: for torch.compile, torch.export and everything that traces.

    import risec, risec.torch
    program = risec.compile("entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)")
    total = risec.torch.op(program.sum, "mylib::total")
    total(x)                       # and inside of torch.compile(fullgraph=True)

An operator has no gradient: backward through it raises an error that says so.
"""
from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from ._arguments import Argument, Signature
from ._entry import Entry

_KINDS = {"bool": "bool", "f16": "float", "bf16": "float", "f32": "float", "f64": "float"}


def op(entry: Entry, name: str, *, sizes: Sequence[str] = ()) -> Callable[..., Any]:
    """Registers an entry as the operator `name`, "namespace::name", and returns it.

    Its parameters are the entry's inputs: tensors, and numbers of Python for scalars; of a tuple of
    arrays, its parts. `sizes` names the sizes that no shape tells; they follow as ints.
    """
    s = entry.signature
    unknown = [size for size in sizes if size not in s.sizes]
    if unknown:
        raise TypeError(
            f"{entry.name} has no size {unknown[0]!r}; it has {', '.join(s.sizes) or 'none'}"
        )
    parameters = [f"{_kind(a)} {_python(a.name)}" for a in s.inputs] + [
        f"SymInt {size}" for size in sizes
    ]
    result = "Tensor" if len(s.results) == 1 else f"({', '.join(['Tensor'] * len(s.results))})"
    rule = _Shapes(s, entry, sizes)

    def run(*args: Any) -> Any:
        inputs, given = args[: len(s.inputs)], args[len(s.inputs) :]
        values = _together(s, [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs])
        return entry(*values, **{size: int(n) for size, n in zip(sizes, given)})

    def fake(*args: Any) -> Any:
        like = next((x for x in args if isinstance(x, torch.Tensor)), None)
        device = "cpu" if like is None else like.device
        made = [
            torch.empty(shape, dtype=getattr(torch, a.type.common), device=device)
            for a, shape in zip(s.results, rule(args))
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def backward(_context: Any, *_grads: Any) -> Any:
        raise RuntimeError(f"{name} has no gradient: risec does not differentiate programs")

    made = torch.library.custom_op(
        name, run, mutates_args=(), schema=f"({', '.join(parameters)}) -> {result}"
    )
    made.register_fake(fake)
    made.register_autograd(backward)
    return made


def _kind(a: Argument) -> str:
    return "Tensor" if a.rank else _KINDS.get(a.type.name, "int")


def _python(name: str) -> str:
    return name.replace(".", "_")


def _together(s: Signature, values: List[Any]) -> List[Any]:
    return [
        tuple(values[p.first : p.first + p.parts]) if p.parts > 1 else values[p.first]
        for p in s.parameters
    ]


# ---- shapes -------------------------------------------------------------------------------------


def _ceil_div(a: Any, b: Any) -> Any:
    return (a + b - 1) // b


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS = {"ceilDiv": _ceil_div, "min": torch.sym_min, "max": torch.sym_max}


def _dimensions(text: str) -> Optional[List[ast.expr]]:
    """The dimensions of a type in RISE, "(n - 1).m.f32", as expressions of Python; None where one
    is none.
    """
    parts, depth, start = [], 0, 0
    for k, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "." and not depth:
            parts.append(text[start:k])
            start = k + 1
    try:
        return [
            ast.parse(part.replace("/", "//").replace("^", "**"), mode="eval").body
            for part in parts
        ]
    except SyntaxError:
        return None


def _value(e: ast.expr, sizes: Dict[str, Any]) -> Any:
    """KeyError where it is more than sums and products of sizes that are known."""
    if isinstance(e, ast.Constant) and isinstance(e.value, int):
        return e.value
    if isinstance(e, ast.Name):
        return sizes[e.id]
    if isinstance(e, ast.BinOp) and type(e.op) in _OPERATORS:
        return _OPERATORS[type(e.op)](_value(e.left, sizes), _value(e.right, sizes))
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name):
        return _FUNCTIONS[e.func.id](*[_value(x, sizes) for x in e.args])
    raise KeyError


class _Shapes:
    """The shapes of results. Where dimensions are plain, they stay symbolic: one graph serves all
    sizes.
    """

    def __init__(self, s: Signature, entry: Entry, sizes: Sequence[str]) -> None:
        self._s, self._entry, self._sizes = s, entry, sizes
        self._inputs = [_dimensions(a.text) for a in s.inputs]
        self._results = [_dimensions(a.text) for a in s.results]

    def __call__(self, args: Sequence[Any]) -> List[Tuple[Any, ...]]:
        inputs = args[: len(self._s.inputs)]
        given = dict(zip(self._sizes, args[len(inputs) :]))
        known: Dict[str, Any] = dict(given)
        for a, dimensions, x in zip(self._s.inputs, self._inputs, inputs):
            for e, extent in zip(dimensions or (), x.shape if a.rank else ()):
                if isinstance(e, ast.Name):
                    known.setdefault(e.id, extent)
        try:
            return [self._shape(a, e, known) for a, e in zip(self._s.results, self._results)]
        except KeyError:
            return self._inferred(inputs, given)

    def _shape(
        self, a: Argument, dimensions: Optional[List[ast.expr]], known: Dict[str, Any]
    ) -> Tuple[Any, ...]:
        if dimensions is None or len(dimensions) != a.rank:
            raise KeyError
        return tuple(_value(e, known) for e in dimensions)

    def _inferred(self, inputs: Sequence[Any], given: Dict[str, Any]) -> List[Tuple[Any, ...]]:
        """By librise, which wants numbers: a graph for each shape."""
        shapes = [tuple(map(int, x.shape)) if a.rank else 0 for a, x in zip(self._s.inputs, inputs)]
        parts = [
            list(v) if isinstance(v, tuple) and p.parts > 1 else v
            for p, v in zip(self._s.parameters, _together(self._s, shapes))
        ]
        return list(
            self._entry.infer(*parts, **{size: int(n) for size, n in given.items()}).results
        )


__all__ = ["op"]
