"""Expressions in study files, such as `ranks * threads <= cores`: Python's syntax, a few of its operators, no calls but
those of FUNCTIONS, evaluated without `eval`.

An expression is read once and becomes a function of the names in it, so that thousands of cases take no time.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean

Value = bool | int | float | str
_Compiled = Callable[[Mapping[str, Value]], Any]

LONGEST = 1000  # letters
LARGEST = 1e18  # magnitude of a number on the way
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}
ALLOWED = (
    "numbers, strings, names, + - * / // %, comparisons, in [...], and, or, not, if ... else, "
    f"{', '.join(sorted(FUNCTIONS))}"
)


@dataclass(frozen=True)
class Expression:
    """An expression that was read.

    Attributes:
        text: as it was written. names: that it uses, in the order of the text, each once.
    """

    text: str
    names: tuple[str, ...]
    _function: _Compiled

    def __call__(self, values: Mapping[str, Value]) -> Value:
        """Its value, where each name has one of `values`. InputError where it has none."""
        try:
            value = self._function(values)
        except KeyError as error:
            meant = did_you_mean(error.args[0], values)
            raise InputError(f"{self.text}: unknown name {error.args[0]}; known: {', '.join(values)}{meant}") from None
        except (ArithmeticError, TypeError, ValueError) as error:
            used = ", ".join(f"{name} = {values[name]!r}" for name in self.names if name in values)
            raise InputError(f"{self.text}: {error}" + (f", where {used}" if used else "")) from None
        result: Value = value
        return result

    def true(self, values: Mapping[str, Value]) -> bool:
        """Its value, which must be true or false. Raises InputError."""
        value = self(values)
        if not isinstance(value, bool):
            raise InputError(f"{self.text}: found the value {value!r}; allowed: an expression that is true or false")
        return value


def read(text: str) -> Expression:
    """Read an expression. Raises InputError with one line that says what in it is not allowed."""
    if len(text) > LONGEST:
        raise InputError(f"{shortened(text, 40)}: found {len(text)} letters; allowed: an expression of {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{shortened(text)}: not an expression; allowed: {ALLOWED}") from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    names = [node.id for node in sorted(named, key=lambda node: (node.lineno, node.col_offset))]
    try:
        compiled = _compile(tree.body)
    except RecursionError:
        raise InputError(f"{shortened(text)}: nested too deeply") from None
    except _NotAllowedError as error:
        part = ast.get_source_segment(text.strip(), error.node) or text
        raise InputError(f"{shortened(text)}: found {shortened(part, 40)}; allowed: {ALLOWED}") from None
    return Expression(text.strip(), tuple(dict.fromkeys(names)), compiled)


class _NotAllowedError(Exception):
    """A part of an expression that is none."""

    def __init__(self, node: ast.expr) -> None:
        super().__init__()
        self.node = node


def _compile(node: ast.expr) -> _Compiled:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return lambda values: value
        case ast.Name(id=name):
            return lambda values: values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _binary(_BINARY[type(op)], _compile(left), _compile(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compile(operand)
            return lambda values: -inner(values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _compile(operand)
            return lambda values: not inner(values)
        case ast.BoolOp(op=op, values=parts):
            each = [_compile(part) for part in parts]
            together = all if isinstance(op, ast.And) else any
            return lambda values: together(part(values) for part in each)
        case ast.Compare(left=first, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            return _comparison([_COMPARISONS[type(op)] for op in ops], [_compile(part) for part in (first, *others)])
        case ast.IfExp(test=test, body=body, orelse=other):
            condition, then, otherwise = _compile(test), _compile(body), _compile(other)
            return lambda values: then(values) if condition(values) else otherwise(values)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            each = [_compile(part) for part in parts]
            return lambda values: [part(values) for part in each]
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in FUNCTIONS:
            function, each = FUNCTIONS[name], [_compile(argument) for argument in arguments]
            return lambda values: function(*(argument(values) for argument in each))
    raise _NotAllowedError(node)


def _binary(function: Callable[[Any, Any], Any], left: _Compiled, right: _Compiled) -> _Compiled:
    def value(values: Mapping[str, Value]) -> Any:
        a, b = left(values), right(values)
        for part in (a, b):  # "x" * 10**9 would take the memory, "%" formats strings
            if isinstance(part, str | list):
                raise TypeError(f"{part!r} is not a number")
        result = function(a, b)
        if abs(result) > LARGEST:
            raise OverflowError(f"{a} and {b} give more than {LARGEST:g}")
        return result

    return value


def _comparison(functions: Sequence[Callable[[Any, Any], bool]], parts: Sequence[_Compiled]) -> _Compiled:
    def value(values: Mapping[str, Value]) -> bool:
        left = parts[0](values)
        for function, part in zip(functions, parts[1:], strict=True):
            right = part(values)
            if not function(left, right):
                return False
            left = right
        return True

    return value
