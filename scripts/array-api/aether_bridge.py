"""What stands behind the module aether_arrays: handles of arrays in a Node.js process, and calls of their functions.

A Node.js process (server.mjs) has the arrays; Python has handles. Each call is one line of JSON there and one back:

    there  {"drop": [4, 9], "call": "sum", "positional": [V, ...], "options": {"axis": V}}
    back   {"value": V} or {"error": {"code": "ERR_AETHER_ARRAY_TYPE", "name": ..., "message": ...}}

A value V is null, true, false, a string or a list of values, or an object of one key that says what it is:

    {"int": "12"}  {"float": "nan"}  {"complex": ["0.0", "-inf"]}  {"dtype": "int8"}  {"ellipsis": true}
    {"slice": [V, V, V]}  {"array": 7, "dtype": "int8", "shape": [2, 3]}  {"record": {"Q": V, "R": V}}
"""

import collections
import inspect
import json
import math
import operator
import os
import re
import subprocess
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_command = [os.environ.get("AETHER_NODE", "node"), os.path.join(_here, "server.mjs")]
_size = int(os.environ.get("ARRAYS_RANKS", "1"))
_group = [str(_size), f"local:array-api-{os.getpid()}", os.environ.get("ARRAYS_PARTITION", "block")]
#: The ranks. They get the same lines, and must answer the same.
_ranks = [
    subprocess.Popen(
        _command if _size == 1 else [*_command, str(rank), *_group], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for rank in range(_size)
]
_dropped = []


class ArrayError(Exception):
    """An error that has no counterpart among Python's own."""


class _TypeError(ArrayError, TypeError):
    pass


class _ValueError(ArrayError, ValueError):
    pass


class _IndexError(ArrayError, IndexError):
    pass


_EXCEPTIONS = {
    "TYPE": _TypeError,
    "SHAPE": _ValueError,
    "AXIS": type("_AxisError", (_ValueError, _IndexError), {}),
    "INDEX": _IndexError,
    "VALUE": _ValueError,
}


def _call(name, positional=(), options=None):
    global _dropped
    drop, _dropped = _dropped, []
    request = {"drop": drop, "call": name, "positional": [_there(p) for p in positional]}
    request["options"] = {key: _there(value) for key, value in (options or {}).items()}
    line = json.dumps(request).encode() + b"\n"
    for rank in _ranks:
        rank.stdin.write(line)
        rank.stdin.flush()
    replies = [rank.stdout.readline() for rank in _ranks]
    if not all(replies):
        raise SystemExit("a Node.js process with the arrays has ended: what it said is above")
    if len(set(replies)) > 1:
        raise AssertionError(f"{name}: the ranks answer differently: {replies}")
    reply = json.loads(replies[0])
    if "error" in reply:
        error = reply["error"]
        kind = _EXCEPTIONS.get(error["code"].removeprefix("ERR_AETHER_ARRAY_"), ArrayError)
        raise kind(f"{error['name']}: {error['message']}")
    return _back(reply["value"])


def _there(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Array):
        return {"array": value._handle}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": repr(float(value))}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, slice):
        return {"slice": [_bound(bound) for bound in (value.start, value.stop, value.step)]}
    if isinstance(value, (list, tuple, range)):
        return [_there(part) for part in value]
    if hasattr(value, "__index__"):
        return {"int": str(value.__index__())}
    raise TypeError(f"{type(value).__name__} is nothing that arrays take")


def _bound(bound):
    return bound if bound is None else _there(operator.index(bound))


def _back(value):
    if isinstance(value, list):
        return tuple(_back(part) for part in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return Array(value["array"], _dtypes[value["dtype"]], tuple(value["shape"]))
    if "record" in value:
        names = {_snake(name): _back(part) for name, part in value["record"].items()}
        return collections.namedtuple("Record", names)(**names)
    (kind, content), = value.items()
    if kind == "int":
        return int(content)
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(*map(float, content))
    return _dtypes[content]


def _snake(name):
    return name if name[0].isupper() else re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def _camel(name):
    return re.sub("_([a-z0-9])", lambda letter: letter[1].upper(), name)


class DType:
    """A data type: equal to itself only, as the name tells."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


_dtypes = {
    name: DType(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
}


class Array:
    """A handle of an array. The process there forgets the array after the handle is gone."""

    __hash__ = None

    def __init__(self, handle, dtype, shape):
        self._handle = handle
        self.dtype = dtype
        self.shape = shape
        self.device = "cpu"

    def __del__(self):
        _dropped.append(self._handle)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    T = property(lambda self: _call("array.T", [self]))
    mT = property(lambda self: _call("array.mT", [self]))

    def __array_namespace__(self, /, *, api_version=None):
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"there is no version {api_version}")
        return sys.modules["aether_arrays"]

    def to_device(self, device, /, *, stream=None):
        if device != "cpu" or stream is not None:
            raise ValueError("arrays are in the memory of processes: the one device is 'cpu'")
        return self

    def __dlpack_device__(self, /):
        return 1, 0

    def __getitem__(self, key, /):
        return _call("array.at", [self, *_key(key)])

    def __setitem__(self, key, value, /):
        _call("array.set", [self, value, *_key(key)])

    def __repr__(self):
        return _call("array.text", [self])

    def __bool__(self, /):
        return bool(_item(self))

    def __complex__(self, /):
        return complex(_item(self))

    def __float__(self, /):
        item = _item(self)
        if isinstance(item, complex):
            raise TypeError("a complex number is no float")
        return float(item)

    def __int__(self, /):
        item = _item(self)
        if isinstance(item, complex):
            raise TypeError("a complex number is no int")
        return int(item)

    def __index__(self, /):
        if "int" not in self.dtype.name:
            raise TypeError(f"only integer arrays index, not {self.dtype}")
        return _item(self)


def _key(key):
    return key if isinstance(key, tuple) else (key,)


def _item(array):
    item = _call("array.item", [array])
    return int(item) if "int" in array.dtype.name else item


def _unary(function):
    return lambda self, /: functions[function](self)


def _binary(function):
    def forwards(self, other, /):
        return _either(function, other, self, other)

    def backwards(self, other, /):
        return _either(function, other, other, self)

    def in_place(self, other, /):
        result = _either(function, other, self, other)
        if result is NotImplemented:
            return result
        if result.shape != self.shape:
            raise _ValueError(f"shape {self.shape} cannot become {result.shape} in place")
        if result.dtype != self.dtype:
            raise _TypeError(f"dtype {self.dtype} cannot become {result.dtype} in place")
        self[...] = result
        return self

    return forwards, backwards, in_place


def _either(function, other, *operands):
    if not isinstance(other, (Array, bool, int, float, complex)):
        return NotImplemented
    return functions[function](*operands)


for _dunder, _function in {"abs": "abs", "neg": "negative", "pos": "positive", "invert": "bitwise_invert"}.items():
    setattr(Array, f"__{_dunder}__", _unary(_function))
for _dunder, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "matmul": "matmul",
}.items():
    _forwards, _backwards, _in_place = _binary(_function)
    setattr(Array, f"__{_dunder}__", _forwards)
    setattr(Array, f"__r{_dunder}__", _backwards)
    setattr(Array, f"__i{_dunder}__", _in_place)
for _dunder, _function in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}.items():
    setattr(Array, f"__{_dunder}__", _binary(_function)[0])


def _defined(name, parameters):
    """A Python function of this signature that calls the function of this name there."""
    short = name.rpartition(".")[2]
    template = {}
    exec(f"def {short}({parameters}): pass", template)
    signature = inspect.signature(template[short])

    def function(*arguments, **keywords):
        bound = signature.bind(*arguments, **keywords)
        positional, options = [], {}
        for parameter in signature.parameters.values():
            given = parameter.name in bound.arguments
            value = bound.arguments.get(parameter.name, parameter.default)
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(bound.arguments.get(parameter.name, ()))
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append(value)
            elif given and parameter.name == "device":
                if value not in (None, "cpu"):
                    raise _ValueError(f"there is no device {value!r}: the one device is 'cpu'")
            elif given and value is not parameter.default:
                options[_camel(parameter.name)] = value
        result = _call(name, positional, options)
        return _ADAPTED.get(name, lambda result: result)(result)

    function.__name__ = function.__qualname__ = short
    function.__signature__ = signature
    return function


def _finfo(record):
    return record._replace(bits=int(record.bits))


_ADAPTED = {
    "finfo": _finfo,
    "iinfo": lambda record: record._replace(**{name: int(getattr(record, name)) for name in ("bits", "min", "max")}),
    "broadcast_shapes": lambda shape: tuple(map(int, shape)),
}

#: All functions by the names of the standard, those of extensions after `linalg.` and `fft.`.
functions = {name: _defined(name, parameters) for name, parameters in _call("functions")}
dtypes = _dtypes


class Info:
    """What the namespace tells of itself."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ("cpu",)

    def default_dtypes(self, *, device=None):
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: dtypes[name] for kind, name in names.items()}

    def dtypes(self, *, device=None, kind=None):
        kinds = kind if isinstance(kind, tuple) or kind is None else (kind,)
        isdtype = functions["isdtype"]
        return {name: type for name, type in dtypes.items() if kinds is None or any(isdtype(type, k) for k in kinds)}
