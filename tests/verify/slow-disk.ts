import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Preloaded into a server: for a while after SIGWINCH its files are slow. */
const slowMilliseconds = 1500;
const delayMillisecondsMax = 250;
let slowUntil = 0;

process.on("SIGWINCH", () => {
  slowUntil = performance.now() + slowMilliseconds;
});

for (const name of ["write", "read", "fdatasync", "fsync", "open"] as const) {
  const real = fs[name] as (...words: readonly unknown[]) => void;
  const slow = (...words: readonly unknown[]): void => {
    const delay = performance.now() < slowUntil ? Math.random() * delayMillisecondsMax : 0;
    if (delay === 0) real(...words);
    else setTimeout(() => real(...words), delay);
  };
  Object.assign(fs, { [name]: Object.assign(slow, real) });
}
syncBuiltinESMExports();
