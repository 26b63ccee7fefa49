/**
 * Preloaded into a server: at SIGUSR2 its wall clock jumps by up to two days in either direction.
 * The monotonic clock continues, as on a real machine.
 */
const jumpMillisecondsMax = 2 * 24 * 60 * 60 * 1000;
const realNow = Date.now.bind(Date);
let offset = 0;

process.on("SIGUSR2", () => {
  offset = Math.round((2 * Math.random() - 1) * jumpMillisecondsMax);
});
Date.now = () => realNow() + offset;
