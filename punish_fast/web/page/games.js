/** Renderers of all games; punish.js documents their interface. */

import { Connect4 } from "./connect4.js";
import { Gwent } from "./gwent.js";
import { IncanGold } from "./incan_gold.js";
import { ButtonGame } from "./open_game.js";
import { Punish } from "./punish.js";
import { TapnSwap } from "./tapnswap.js";
import { TicTacToe } from "./tictactoe.js";

const RENDERERS = { punish: Punish, tapnswap: TapnSwap, tictactoe: TicTacToe, connect4: Connect4, "incan-gold": IncanGold, gwent: Gwent };

/** Return the renderer of a game by the game's name. */
export const rendererOf = (game) => RENDERERS[game] ?? ButtonGame;
