import { createHash } from "node:crypto";

const turns = 2000;

/** CPU time of work that never changes, of the kinds that requests are made of: text, hashes, maps
 *  and buffers. It tells a slower machine from a slower server. */
export function yardstick(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const record = { name: `object-${turn}`, size: turn, tags: ["a", "b", String(turn)] };
    const text = JSON.stringify(record);
    const parsed = JSON.parse(text) as typeof record;
    const map = new Map(Object.entries(parsed));
    sum +=
      createHash("md5")
        .update(Buffer.from(text.repeat(4)))
        .digest()
        .readUInt8(0) + map.size;
  }
  if (sum < 0) throw new Error("cannot be");
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
