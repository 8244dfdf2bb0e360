/** Short sounds, synthesized by the browser. A button in the header of the page turns them on and off. */

import { keep, recall } from "./memory.js";

const ON = "sound";
// Each note: seconds until it begins, duration in seconds, frequency in hertz at its beginning and end, volume, waveform.
const SOUNDS = {
  turn: [[0, 0.07, 900, 300, 0.05, "triangle"]],
  block: [[0.3, 0.09, 320, 280, 0.12, "square"], [0.38, 0.12, 240, 200, 0.08, "square"]],
  hit: [[0.3, 0.22, 160, 45, 0.5, "sine"], [0.3, 0.06, 90, 60, 0.15, "sawtooth"]],
  win: [[0.7, 0.16, 523, 523, 0.15, "triangle"], [0.86, 0.16, 659, 659, 0.15, "triangle"], [1.02, 0.34, 784, 784, 0.15, "triangle"]],
  loss: [[0.7, 0.22, 330, 320, 0.15, "triangle"], [0.92, 0.45, 247, 196, 0.15, "triangle"]],
};

// Browsers allow sound only after the user has pressed something. A context that is created earlier remains silent, so
// earlier sounds are skipped.
let context = null;

/** Make a button turn the sounds on and off. */
export function tune(button) {
  const paint = () => {
    const isOn = recall(ON, true);
    button.textContent = isOn ? "♪" : "∅";
    button.title = isOn ? "Turn sounds off" : "Turn sounds on";
    button.setAttribute("aria-label", button.title);
  };
  button.onclick = () => {
    keep(ON, recall(ON, true) ? false : null);
    paint();
    play("turn");
  };
  paint();
}

/** Play a sound by name, if sounds are on. */
export function play(name) {
  if (!recall(ON, true) || !window.AudioContext || navigator.userActivation?.hasBeenActive === false) return;
  context ??= new AudioContext();
  for (const [delay, seconds, from, to, volume, type] of SOUNDS[name]) {
    const [begin, source, gain] = [context.currentTime + delay, context.createOscillator(), context.createGain()];
    source.type = type;
    source.frequency.setValueAtTime(from, begin);
    source.frequency.exponentialRampToValueAtTime(to, begin + seconds);
    gain.gain.setValueAtTime(volume, begin);
    gain.gain.exponentialRampToValueAtTime(0.001, begin + seconds);
    source.connect(gain).connect(context.destination);
    source.start(begin);
    source.stop(begin + seconds);
  }
}
