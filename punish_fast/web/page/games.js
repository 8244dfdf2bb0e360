/** How the page draws a game, each in a file of its own; the first lines of punish.js say what such a file has. */

import { Connect4 } from "./connect4.js";
import { Gwent } from "./gwent.js";
import { IncanGold } from "./incan_gold.js";
import { ButtonGame } from "./open_game.js";
import { Punish } from "./punish.js";
import { TapnSwap } from "./tapnswap.js";
import { TicTacToe } from "./tictactoe.js";

const RENDERERS = { punish: Punish, tapnswap: TapnSwap, tictactoe: TicTacToe, connect4: Connect4, "incan-gold": IncanGold, gwent: Gwent };

/** The class that draws a game by its name. */
export const rendererOf = (game) => RENDERERS[game] ?? ButtonGame;
