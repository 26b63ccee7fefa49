// Fills a data folder for `--growth` in a process of its own, without sockets:
// `node growth-fill.js FOLDER COUNT NAME…`.
import { openInProcess } from "./in-process.ts";
import { scenarioOf } from "./scenarios/all.ts";

const [folder = "", count = "0", ...names] = process.argv.slice(2);
const target = await openInProcess(folder);
for (const name of names) {
  const began = performance.now();
  await scenarioOf(name).fill(target, { name: "stored", stored: Number(count) });
  const seconds = (performance.now() - began) / 1000;
  console.log(`stored ${count} for ${name} in ${seconds.toFixed(0)} s`);
}
await target.stop();
