"""Aether's arrays as a module of the array API standard, so that the standard's public test suite can judge them."""

import math
import types

import aether_bridge

__array_api_version__ = "2025.12"
e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
linalg = types.ModuleType("aether_arrays.linalg")
fft = types.ModuleType("aether_arrays.fft")
__array_namespace_info__ = aether_bridge.Info

globals().update(aether_bridge.dtypes)
for _name, _function in aether_bridge.functions.items():
    _extension, _, _short = _name.rpartition(".")
    if _extension == "":
        globals()[_name] = _function
    elif _extension in ("linalg", "fft"):
        setattr(globals()[_extension], _short, _function)
