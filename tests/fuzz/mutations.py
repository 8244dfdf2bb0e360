"""Forged HDF5 files: wrong values, shapes, types and attributes, as the schema has them, under a valid checksum.

A mutation changes an open file and returns what it did, or None if it does not apply.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from punish_fast.store import checksum, schema
from punish_fast.store.schema import ATTRIBUTES, DATASETS, Attribute

DTYPES = ("float32", "int8", "uint64", "int64", ">f8", ">i8", "float64", "S8", "bool", "complex128", "longdouble")
NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, 0.5, -0.0, 1e-300, 1e100, 1e308, np.nan, np.inf, -np.inf)
TEXTS = (
    *("", "\n", "a\nb", "\x1b[31mred", "é\u202e", "x" * 5000, "{", "null", "[" * 60000, '{"kind": 3}'),
    '{"kind": "\\n\\u001b[2J"}',
    '{"kind": "agent", "file": "a", "temperature": "hot"}',
    '{"kind": "agent", "file": ["a"]}',
    '{"a": NaN, "b": Infinity}',
    '{"seed": ' + "9" * 4000 + "}",
    '{"seed": ' + "9" * 6000 + "}",
    '{"method": {"x": [1, {"y": null}]}}',
    '{"hp": 1000000000}',
    '{"copies": {"a\\nb": 1}}',
    '{"\\ud800": "\\udfff"}',
    '{"name": ["tapnswap"], "parameters": {}}',
    '{"name": "tapnswap", "parameters": {"a": 1}}',
    *schema.ALL_KINDS,
    *("layered", "jacobi", "imported", "discounted", "reach-probability", "memoryless", "memory"),
)


class Dataset(NamedTuple):
    name: str
    dtype: str
    low: float
    high: float


def _put(file: h5py.File, name: str, array: Any, **options: Any) -> None:
    if DATASETS[name].is_compressed and np.ndim(array) and not options:
        options = {"compression": "gzip", "shuffle": True}
    if name in file:
        del file[name]
    file.create_dataset(name, data=array, **options)


def remove(file: h5py.File, dataset: Dataset, _rng: random.Random) -> str:
    del file[dataset.name]
    return "removed"


def change_dtype(file: h5py.File, dataset: Dataset, rng: random.Random) -> str:
    dtype = rng.choice([dtype for dtype in DTYPES if dtype != dataset.dtype])
    with np.errstate(all="ignore"):
        _put(file, dataset.name, file[dataset.name][...].astype(dtype))
    return f"dtype {dtype}"


def store_objects(file: h5py.File, dataset: Dataset, rng: random.Random) -> str:
    shape = file[dataset.name].shape
    del file[dataset.name]
    pair = np.dtype([("a", "f8"), ("b", "i4")])
    dtypes = (h5py.string_dtype(), h5py.ref_dtype, h5py.vlen_dtype(np.float64), pair)
    kind = rng.randrange(len(dtypes))
    file.create_dataset(dataset.name, shape, dtypes[kind])
    return f"objects {kind}"


def change_shape(file: h5py.File, dataset: Dataset, rng: random.Random) -> str:
    array = file[dataset.name][...]
    shapes: list[Callable[[], Any]] = [
        lambda: array[:-1],
        lambda: array[:0],
        lambda: np.concatenate([array, array[-1:]]),
        lambda: np.concatenate([array, array]),
        lambda: array[np.newaxis],
        lambda: array[..., np.newaxis],
        lambda: array.reshape(-1)[0] if array.size else np.zeros((), array.dtype),
        lambda: array.T.copy() if array.ndim > 1 else array[:1],
        lambda: np.zeros((1,) * 20, array.dtype),
    ]
    number = rng.randrange(len(shapes))
    _put(file, dataset.name, shapes[number]())
    return f"shape {number}"


def store_nothing(file: h5py.File, dataset: Dataset, _rng: random.Random) -> str:
    del file[dataset.name]
    file[dataset.name] = h5py.Empty(dataset.dtype)
    return "null"


def claim_much(file: h5py.File, dataset: Dataset, rng: random.Random) -> str:
    size = 1 << rng.choice([20, 30, 40, 50, 60])
    shape = (size, *file[dataset.name].shape[1:])
    options: list[dict[str, Any]] = [
        {"chunks": True},
        {"chunks": True, "compression": "gzip", "shuffle": True},
        {"chunks": (min(size, 1 << 24), *shape[1:]), "compression": "gzip", "shuffle": True},
        {},
    ]
    number = rng.randrange(3 if size > 1 << 30 else 4)
    del file[dataset.name]
    file.create_dataset(dataset.name, shape, dataset.dtype, **options[number])
    return f"{size} claimed, {number}"


def change_numbers(file: h5py.File, dataset: Dataset, rng: random.Random) -> str | None:
    array = file[dataset.name][...]
    if array.size == 0 or array.dtype.kind not in "iuf":
        return None
    number = rng.choice([*NUMBERS, dataset.low - 1, dataset.high + 1, dataset.low, dataset.high])
    count = rng.choice([1, 1, 3, array.size])
    flat = array.reshape(-1)
    where = np.array([rng.randrange(array.size) for _ in range(count)]) if count < array.size else slice(None)
    with np.errstate(all="ignore"):
        flat[where] = np.asarray(number, dtype=np.float64).astype(array.dtype)
    _put(file, dataset.name, flat.reshape(array.shape))
    return f"{number} x {count}"


def break_relation(file: h5py.File, dataset: Dataset, rng: random.Random) -> str | None:
    array = file[dataset.name][...]
    if array.ndim == 0 or len(array) < 2 or array.dtype.kind not in "iuf":
        return None
    kind, place = rng.randrange(6), rng.randrange(len(array) - 1)
    with np.errstate(all="ignore"):
        if kind == 0:
            array[[place, place + 1]] = array[[place + 1, place]]
        elif kind == 1:
            array = array[::-1].copy()
        elif kind == 2:
            array[place] = (array[place] * rng.choice([0.5, 0.999999, 1.000001, 2])).astype(array.dtype)
        elif kind == 3:
            array[place] = array[-1]
        elif kind == 4:
            array = np.roll(array, 1, axis=0)
        else:
            array = np.random.default_rng(rng.randrange(1 << 30)).permutation(array)
    _put(file, dataset.name, array)
    return f"relation {kind}"


OF_DATASETS = (
    *(remove, change_dtype, store_objects, change_shape, store_nothing, claim_much),
    *(change_numbers,) * 4,
    *(break_relation,) * 4,
)


def _values(attribute: Attribute, rng: random.Random) -> list[Any]:
    numbers = [*NUMBERS, attribute.low - 1, attribute.high + 1]
    of_other_types: list[Any] = [
        *(7, 1.5, "text", [1, 2], [1.5, 2.5, 3.5], ["a", "b"], True, 1.5j, b"\xff\xfe", np.zeros((3, 3)), np.zeros(0)),
        *(h5py.Empty("f8"), np.longdouble(1), np.uint64(2**64 - 1), np.bytes_(b"fixed"), "x" * 70000, np.zeros(9000)),
    ]
    return [*(numbers if attribute.type in (int, float) else rng.sample(TEXTS, 12)), *of_other_types]


def change_attribute(file: h5py.File, rng: random.Random) -> str | None:
    names = [name for name in ATTRIBUTES if name in file.attrs]
    # Or one of another kind of file.
    name = rng.choice(names if names and rng.random() < 0.85 else list(ATTRIBUTES))
    if rng.random() < 0.15:
        if name in file.attrs:
            del file.attrs[name]
        return f"{name} removed"
    value = rng.choice(_values(ATTRIBUTES[name], rng))
    if name in file.attrs:
        del file.attrs[name]
    file.attrs[name] = value
    return f"{name} = {str(value)[:40]!r}"


def change_rules(file: h5py.File, rng: random.Random) -> str | None:
    """Rules that are others, with the right digest."""
    from punish_fast.punish.rules import PRESETS, to_json

    if "rules" not in file.attrs:
        return None
    rules = rng.choice([*PRESETS.values(), PRESETS["tiny"]._replace(hp=9), PRESETS["tiny"]._replace(breaths=8)])
    file.attrs["rules"], file.attrs["rules_digest"] = to_json(rules), rules.digest
    return f"rules {rules}"


def mutate_structure(path: Path, rng: random.Random) -> str:
    """Change one to three things in a file, and seal it again; return what was changed."""
    done: list[str] = []
    with h5py.File(path, "r+") as file:
        intact = [
            Dataset(name, each.dtype, each.low, each.high)
            for name, each in DATASETS.items()
            if isinstance(file.get(name), h5py.Dataset)
        ]
        rng.shuffle(intact)
        wanted = rng.choice([1, 1, 1, 2, 3])
        while len(done) < wanted:
            kind, dataset = rng.random(), intact[-1] if intact else None
            if kind < 0.55 and dataset is not None:
                what = rng.choice(OF_DATASETS)(file, dataset, rng)
                what = what and f"{dataset.name}: {what}"
                intact.pop()
            elif kind < 0.93:
                what = change_attribute(file, rng)
            else:
                what = change_rules(file, rng)
            done += [what] if what else []
    checksum.seal(path)
    return "; ".join(done)
