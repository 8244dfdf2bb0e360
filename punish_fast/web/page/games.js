/** The games that the page can draw, each in a file of its own; the first lines of punish.js say what such a file has. */

import { Punish } from "./punish.js";
import { TapnSwap } from "./tapnswap.js";

export const RENDERERS = { punish: Punish, tapnswap: TapnSwap };
