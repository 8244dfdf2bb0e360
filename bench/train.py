"""Train agents with Stable-Baselines3 and measure them exactly: ``python -m bench.train FOLDER``.

Three agents learn by proximal policy optimization with masks of legal actions (`sb3_contrib.MaskablePPO`): against
*naive*, against *veteran*, and by self-play against the average of all earlier networks. Networks read the columns of
`punish_fast.encode`. Every agent becomes a strategy file in the folder, with probabilities for all states. The folder
also receives all measurements (``training.json``) and a picture of both bounds on exploitability over training
(``training.png``). If the command is interrupted, the same command trains again, but keeps measurements
under the same rules and against the same opponents.

Needs the extra ``train``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

import punish_fast as pf
from bench.harness import say
from bench.report import markdown
from punish_fast.cli.frame.errors import guarded
from punish_fast.runtime.figures import LOOKS, picture

SELF_PLAY = "self-play"
_GAMES, _BREATHS = 512, 32  # simultaneous games, and breaths of each game between two updates of the network
_PARTS, _POINTS = 24, 4  # new opponents and measurements during self-play and training
_STATES_AT_ONCE = 1 << 16


class _Attributes(gymnasium.Env[np.ndarray, int]):
    action_masks = None  # `_Games.env_method` returns masks


class _Games(DummyVecEnv):
    """Simultaneous games against the policy ``opponent``, float64 ``[n_rows]``, for Stable-Baselines3."""

    def __init__(self, graph: pf.GameGraph, n_games: int, opponent: np.ndarray, seed: int = 0) -> None:
        self.encoding, self.opponent = pf.encode(graph.space), opponent
        self._features = self.encoding.features / np.maximum(self.encoding.maximum, 1).astype(np.float32)
        self._games = pf.GameBatch(graph, n_games, seed)
        observations = spaces.Box(0, 1, self._features.shape[1:], np.float32)
        self.envs = [_Attributes()] * n_games
        VecEnv.__init__(self, n_games, observations, spaces.Discrete(len(self.encoding.actions)))

    def probabilities(self, network: MaskablePPO) -> np.ndarray:
        """Return the probabilities of a network in all states, float64 ``[n_states, 11]``."""
        mask, parts = self.encoding.mask, []
        with torch.no_grad():
            for first in range(0, len(mask), _STATES_AT_ONCE):
                part = slice(first, first + _STATES_AT_ONCE)
                seen = torch.as_tensor(self._features[part])
                chosen: Any = network.policy.get_distribution(seen, action_masks=mask[part])
                parts.append(chosen.distribution.probs.numpy())
        return np.concatenate(parts).astype(np.float64)

    def reset(self) -> np.ndarray:
        self._games.deal()
        return self._observe()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play a breath in every game, and replace games that are over."""
        before, games = self._observe(), self._games
        games.step(self.actions, games.sample(self.opponent, seat=1))
        over, rewards = games.is_over, games.result.astype(np.float32)
        infos: list[dict[str, Any]] = [{"terminal_observation": before[k]} if over[k] else {} for k in range(len(over))]
        games.deal(over)
        return self._observe(), rewards, over, infos

    def _observe(self) -> np.ndarray:
        return np.asarray(self._features[self._games.observe(seat=0)])

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        """Return the mask of legal actions in every game, the only method of these games."""
        if method_name != "action_masks":
            raise AttributeError(method_name)
        return list(self.encoding.mask[self._games.observe(seat=0)])


@dataclass(frozen=True)
class Point:
    """An agent during training: win rates against built-in agents, and bounds on the win rate of its best opponent."""

    agent: str
    steps: int
    seconds: float  # processor time of training
    wins: dict[str, float]
    lower: float
    upper: float
    rules: str = ""  # missing in old files


def train(
    graph: pf.GameGraph, players: Mapping[str, np.ndarray], agent: str, options: Any, known: Mapping[Any, Point]
) -> Iterator[tuple[Point, np.ndarray]]:
    """Train an agent against a player or by self-play. Yield measurements and the agent's policy during training.

    ``options`` are those of the command, and ``known`` contains earlier measurements by agent and number of steps.
    """
    steps = options.steps
    n_games = max(1, min(_GAMES, steps // _BREATHS))
    games = _Games(graph, n_games, players.get(agent, pf.uniform_policy(graph.space)))
    learning: dict[str, Any] = {"n_epochs": 4, "gamma": 1.0, "learning_rate": 1e-3, "ent_coef": 0.01}
    learning |= {"n_steps": _BREATHS, "batch_size": min(2048, n_games * _BREATHS)}
    network = MaskablePPO("MlpPolicy", games, policy_kwargs={"net_arch": [128, 128]}, seed=0, device="cpu", **learning)
    total, seconds = np.zeros(games.encoding.mask.shape), 0.0
    n_parts = max(1, min(_PARTS, steps // (n_games * _BREATHS)))
    for part in range(1, n_parts + 1):
        begin = time.process_time()
        network.learn(steps * part // n_parts - network.num_timesteps, reset_num_timesteps=False)
        is_measured = part * _POINTS // n_parts > (part - 1) * _POINTS // n_parts
        if agent == SELF_PLAY or is_measured:
            table = games.probabilities(network)
            total += table
        if agent == SELF_PLAY:
            games.opponent = games.encoding.policy(total)
        seconds += time.process_time() - begin
        if is_measured:
            policy = games.encoding.policy(table)
            if (agent, network.num_timesteps) in known:
                yield known[agent, network.num_timesteps], policy
                continue
            wins = {name: pf.head_to_head(graph, policy, each).win_probability for name, each in players.items()}
            bounds = pf.bracket(graph, policy, width=0.005, max_iterations=options.iterations)
            yield Point(agent, network.num_timesteps, seconds, wins, bounds.lower, bounds.upper, options.rules), policy


def name_of(agent: str) -> str:
    """Return how an agent was trained: "by self-play" or "against" the name of its opponent."""
    return f"by {agent}" if agent == SELF_PLAY else f"against {agent}"


def draw(points: Sequence[Point], path: Path) -> None:
    """Draw both bounds on the win rate of the best opponent over training, for every agent."""
    with picture(path, "training") as figure:
        figure.set_size_inches(6.4, 3.4)
        axes = figure.subplots()
        for look, agent in zip(LOOKS[::2] + LOOKS[1::2], dict.fromkeys(point.agent for point in points), strict=False):
            found = [point for point in points if point.agent == agent]
            steps = [point.steps / 1000 for point in found]
            edges = [[100 * getattr(point, edge) for point in found] for edge in ("lower", "upper")]
            axes.fill_between(steps, edges[0], edges[1], color=look.color, alpha=0.3, linewidth=0)
            for edge in edges:
                axes.plot(steps, edge, color=look.color, linestyle=look.line, marker=look.marker, markersize=3)
            axes.plot(
                [], [], color=look.color, linestyle=look.line, marker=look.marker, label=f"trained {name_of(agent)}"
            )
        axes.set(xlabel="thousand steps of training", ylabel="win rate of the best opponent (%)", ylim=(50, 100))
        axes.set_title("Proven bounds on the win rate of an opponent who knows the agent")
        axes.legend(loc="lower left")


def table_of(points: Sequence[Point]) -> str:
    """Return the last measurement of every agent as a Markdown table, with win rates in percent."""
    last = {point.agent: point for point in points}.values()
    head = ["agent", "steps", "processor seconds", *points[0].wins, "best opponent, at least", "best opponent, at most"]
    rows = [
        [name_of(point.agent), f"{point.steps:,}", f"{point.seconds:.0f}"]
        + [f"{100 * rate:.2f}" for rate in (*point.wins.values(), point.lower, point.upper)]
        for point in last
    ]
    return "\n".join(markdown([head, *rows]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and measure the agents, write the files, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.train", description=(__doc__ or "").split(":")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the results")
    parser.add_argument("--steps", type=int, default=600_000, metavar="N", help="steps of training (default: 600000)")
    parser.add_argument("--rules", default="tabletop", help="a preset or a TOML file (default: tabletop)")
    parser.add_argument("--iterations", type=int, default=3, metavar="N", help="iterations of bounds (default: 3)")
    parser.add_argument("--opponents", nargs="+", default=["naive", "veteran"], metavar="NAME")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    space, folder = pf.StateSpace(pf.load_rules(options.rules)), options.folder
    graph, players = pf.GameGraph(space), {name: pf.Player(name).policy(space) for name in options.opponents}
    file, points = folder / "training.json", list[Point]()
    earlier = [Point(**each) for each in json.loads(file.read_text(encoding="utf-8"))] if file.exists() else []
    # Measurements under other rules or against other opponents are replaced.
    same = [point for point in earlier if point.rules == options.rules and point.wins.keys() == players.keys()]
    known = {(point.agent, point.steps): point for point in same}
    for agent in (*players, SELF_PLAY):
        for point, policy in train(graph, players, agent, options, known):
            points.append(point)
            rates = ", ".join(f"{100 * rate:.1f} % against {name}" for name, rate in point.wins.items())
            say(f"{agent}, {point.steps:,} steps: {rates}, {point.lower:.4f} to {point.upper:.4f}")
            pf.save_policy(folder / f"{name_of(agent).replace(' ', '-')}.h5", space, policy)
            known[agent, point.steps] = point
            records = json.dumps([asdict(each) for each in known.values()], indent=2)
            file.write_text(records + "\n", encoding="utf-8")
    draw(points, options.folder / "training.png")
    print(table_of(points))
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
