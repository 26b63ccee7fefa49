// Fills a folder for the run of growth, in a process of its own: `node growth-fill.js FOLDER COUNT
// NAME…`. Without sockets, since only what is stored in the end matters.
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
