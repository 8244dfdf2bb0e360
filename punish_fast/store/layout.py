"""The HDF5 files of punish-fast: what stands where.

Root attributes of every file: ``format`` (``"punish-fast"``), ``format_version`` (1), ``kind``, ``rules`` (JSON),
``rules_digest``, ``created``, ``package_version``. Tensors and agents also have ``enemy`` (JSON), agents ``discount``,
``objective``, ``schedule``, ``tolerance`` (NaN if sweeps were asked for), ``sweeps``, ``residual``, ``error_bound`` and
``fingerprint``. By its objective, an agent holds other values, in ``/solution/v`` and ``/solution/q`` alike::

    "discounted"        win 1 / (1 - discount), loss -1 / (1 - discount)      discount below 1
                        P(win) - P(loss), from -1 to 1                        discount 1 (older files: "undiscounted")
    "win-probability"   P(win), from 0 to 1                                   discount 1

No exact value is further than ``error_bound`` from the one in ``/solution/v``. ``/rows/reward`` is the tensor's, +1 for
a win and -1 for a loss, whatever the objective.

Agents that were solved elsewhere have ``schedule`` "imported", no sweeps, a ``residual`` and rewards that are NaN, an
infinite ``error_bound``, and ``terminal_values`` (float64 ``[2]``, those of win and loss). Strategies have ``name`` and
may have ``origin``, a JSON object that says how they were made::

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

A strategy of players who bear more in mind than the view has an ``information`` ("memory", ...) and holds, instead of a
list of states, all rows of that model (``policies.py``)::

    /strategy/rows      uint16  [n_rows]        probabilities in units of 1 / 65535; all 0: play alike; compressed

What is to go on later is an *equilibrium*, with ``information``, ``iterations`` and ``answers``, the share of games
against an answer (``checkpoints.py``)::

    /equilibrium/total                          float64 [n_rows]
    [/equilibrium/regret, last_regret           float64 [n_rows]        without answers]
    [/equilibrium/logit                         float64 [n_rows]        with answers
     /equilibrium/variance]                     float64 [n_states]
    /equilibrium/dealt                          float64 [n]             by full states of the first breath
    /equilibrium/nodes                          float64 [n_nodes]
    [/equilibrium/answer                        int64   [n_states]      the row that the answer takes
     /equilibrium/answer_dealt, answer_nodes    float64 [n], [n_nodes]
     /equilibrium/values, answer_values         float64 [n_full]        chances to win
     /equilibrium/marked_rows                   uint8   [n_rows]        what hasty iterations play
     /equilibrium/marked_full]                  uint8   [n_full]

Learners, of whatever game, have no rules. They have ``game`` and ``learner``, JSON objects: the game by its name and
parameters, and how was learned (see ``store/learner.py``)::

    /learner/q            float64 [n_tables, n_rows]     what each action is worth
    /learner/visits       int64   [n_tables, n_rows]     how often it was learned from

Entries in brackets may be missing. The first 512 bytes, HDF5's user block, are the seal of the file (see ``seal.py``).
Metadata is written in HDF5's 1.10 format.
"""

from __future__ import annotations

FORMAT = "punish-fast"
FORMAT_VERSION = 1
KINDS = ("tensor", "agent", "strategy", "equilibrium")
LEARNER = "learner"
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
}
LEARNER_DTYPES = {
    "/learner/q": "float64",
    "/learner/visits": "int64",
}
