/** Renderers of all games; punish.js documents their interface. */

import { Connect4 } from "./connect4.js";
import { Gwent } from "./gwent.js";
import { IncanGold } from "./incan_gold.js";
import { ButtonGame } from "./open_game.js";
import { Punish } from "./punish.js";
import { TapnSwap } from "./tapnswap.js";
import { TicTacToe } from "./tictactoe.js";

const RENDERERS = { punish: Punish, tapnswap: TapnSwap, tictactoe: TicTacToe, connect4: Connect4, "incan-gold": IncanGold, gwent: Gwent };

// Names and signs of the games other than Punish, in the order of the start page; signs are drawn in a square of side 24.
export const GAMES = {
  connect4: { name: "Connect Four", sign: [2, 7.3, 12.7, 18].map((x) => `M${x} ${x + 2}a2 2 0 1 0 4 0a2 2 0 1 0-4 0`).join("") },
  tictactoe: { name: "Tic-tac-toe", sign: "M9 3v18M15 3v18M3 9h18M3 15h18" },
  tapnswap: { name: "TapnSwap", sign: "M5 14V9M9.5 14V4M14 14V4M18.5 14V7M4 14h15.5v3a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4z" },
  "incan-gold": { name: "Incan Gold", sign: "M2 20h20M5 20v-5h14v5M8 15v-5h8v5M11 10V5h2v5" },
  gwent: { name: "Gwent Lite", sign: "M4 7l8-3v15l-8 2zM12 4l8 3v14l-8-2" },
};

/** Return the renderer of a game by the game's name. */
export const rendererOf = (game) => RENDERERS[game] ?? ButtonGame;
