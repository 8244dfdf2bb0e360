"""The HDF5 files of punish-fast: names, shapes and types of what they hold.

Every file has the root attributes ``format`` (``"punish-fast"``), ``format_version`` (1), ``kind``, ``rules`` (JSON),
``rules_digest``, ``created`` and ``package_version``. Tensors and agents also have ``enemy`` (JSON), agents
``discount``, ``objective``, ``schedule``, ``tolerance`` (NaN if a number of sweeps was asked for), ``sweeps``,
``residual``, ``error_bound`` and ``fingerprint``. The objective sets the scale of ``/solution/v`` and ``/solution/q``::

    "discounted"        win 1 / (1 - discount), loss -1 / (1 - discount); at discount 1,
                        P(win) - P(loss)
    "win-probability"   P(win); discount 1

No exact value is further than ``error_bound`` from the one in ``/solution/v``. ``/rows/reward`` is the tensor's, +1 for
a win and -1 for a loss, whatever the objective.

Imported agents have ``schedule`` "imported", no sweeps, a ``residual`` and rewards that are NaN, an infinite
``error_bound``, and ``terminal_values`` (float64 ``[2]``, those of win and loss). Strategies have ``name`` and may have
``origin``, a JSON object that says how they were made::

    kind        tensor  agent  strategy
    /states/code          x      x              uint64  [n_states]            sorted
    /states/layer_ptr     x      x              int64   [n_layers + 1]
    /rows/state_ptr       x      x              int64   [n_states + 1]
    /rows/action          x      x              uint8   [n_rows]              two-digit action codes
    /rows/reward          x      x              float64 [n_rows]
    /transitions          x     (x)             group, encoding-type "csr_matrix", shape (n_rows, n_states + 2):
        indptr            x     (x)             int64   [n_rows + 1]          columns n_states = win, + 1 = loss
        indices           x     (x)             int32   [n_entries]
        data              x     (x)             float64 [n_entries]
    /solution/v                  x              float64 [n_states]
    /solution/q                  x              float64 [n_rows]
    /log/residual                x              float64 [n_sweeps]
    /log/seconds                 x              float64 [n_sweeps]
    /log/rmse                   (x)             float64 [n_sweeps]            schedule "jacobi"
    /log/choice_changes         (x)             int64   [n_sweeps]            schedule "jacobi"
    /strategy/state                     x       int32   [k]                   rows of the states covered
    /strategy/p                         x       float64 [k, 11]               10, 11, 20, 21, ..., 51, 90; compressed

A strategy under a finer information model than the view has an ``information`` ("memory") and holds, instead of a
table, all rows of that model (``policies.py``)::

    /strategy/rows      uint16  [n_rows]        probabilities in units of 1 / 65535; all 0: uniform; compressed

The checkpoint of an *equilibrium* has ``information``, ``iterations`` and ``answers``, the share of games against a
best response (``checkpoints.py``)::

    /equilibrium/total                          float64 [n_rows]
    [/equilibrium/regret, last_regret           float64 [n_rows]        if answers is 0]
    [/equilibrium/logit                         float64 [n_rows]        otherwise
     /equilibrium/variance]                     float64 [n_states]
    /equilibrium/dealt                          float64 [n]             by full states of the first breath
    /equilibrium/nodes                          float64 [n_nodes]
    [/equilibrium/answer                        int64   [n_states]      the row that the response takes
     /equilibrium/answer_dealt, answer_nodes    float64 [n], [n_nodes]
     /equilibrium/values, answer_values         float64 [n_full]        win probabilities
     /equilibrium/marked_rows                   uint8   [n_rows]        the restricted game
     /equilibrium/marked_full]                  uint8   [n_full]

Learners of other games have no rules. They have the JSON objects ``game``, its name and parameters, and ``learner``,
the way it learned (``learn/qlearning.py``)::

    /learner/q            float64 [n_tables, n_rows]     action values
    /learner/visits       int64   [n_tables, n_rows]     updates of each

Entries in brackets may be missing. The first 512 bytes, HDF5's user block, are the seal of the file (``checksum.py``).
Metadata is written in HDF5's 1.10 format.
"""

from __future__ import annotations

FORMAT = "punish-fast"
FORMAT_VERSION = 1
KINDS = ("tensor", "agent", "strategy", "equilibrium")
LEARNER = "learner"
OBJECTIVES = ("discounted", "win-probability")
LIBRARY_VERSION = ("v110", "v110")

DTYPES = {
    "/states/code": "uint64",
    "/states/layer_ptr": "int64",
    "/rows/state_ptr": "int64",
    "/rows/action": "uint8",
    "/rows/reward": "float64",
    "/transitions/indptr": "int64",
    "/transitions/indices": "int32",
    "/transitions/data": "float64",
    "/solution/v": "float64",
    "/solution/q": "float64",
    "/log/residual": "float64",
    "/log/seconds": "float64",
    "/log/rmse": "float64",
    "/log/choice_changes": "int64",
    "/strategy/state": "int32",
    "/strategy/p": "float64",
    "/strategy/rows": "uint16",
    "/equilibrium/logit": "float64",
    "/equilibrium/variance": "float64",
    "/equilibrium/regret": "float64",
    "/equilibrium/last_regret": "float64",
    "/equilibrium/total": "float64",
    "/equilibrium/dealt": "float64",
    "/equilibrium/nodes": "float64",
    "/equilibrium/answer": "int64",
    "/equilibrium/answer_dealt": "float64",
    "/equilibrium/answer_nodes": "float64",
    "/equilibrium/values": "float64",
    "/equilibrium/answer_values": "float64",
    "/equilibrium/marked_rows": "uint8",
    "/equilibrium/marked_full": "uint8",
    "/learner/q": "float64",
    "/learner/visits": "int64",
}
# Types of root attributes: of every file, of those with rules, and of each kind.
ROOT_ATTRIBUTES: dict[str, type] = {"format_version": int, "kind": str, "created": str, "package_version": str}
_RULES: dict[str, type] = {"rules": str, "rules_digest": str}
_SOLUTION: dict[str, type] = {
    "discount": float,
    "objective": str,
    "schedule": str,
    "tolerance": float,
    "sweeps": int,
    "residual": float,
    "error_bound": float,
    "fingerprint": str,
}
ATTRIBUTES: dict[str, dict[str, type]] = {
    "tensor": _RULES | {"enemy": str},
    "agent": _RULES | {"enemy": str} | _SOLUTION,
    "strategy": _RULES | {"name": str},
    "equilibrium": _RULES | {"information": str, "iterations": int, "answers": float},
    LEARNER: {"game": str, "learner": str},
}
