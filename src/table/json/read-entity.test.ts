import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { readJsonEntity } from "./read-entity.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

function heapMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Values this long are pieces of the text they were cut out of. */
function body(properties: number): string {
  const members = ['"PartitionKey":"p"', '"RowKey":"r"'];
  for (let index = 0; index < properties; index += 1) {
    members.push(`"aRatherLongName${index}":"a value that is a slice"`);
  }
  return Buffer.from(`{${members.join(",")}}${" ".repeat(2 ** 20)}`).toString("utf8");
}

it("a parsed entity keeps no request body in memory, with any number of properties", () => {
  const before = heapMegabytes();
  for (let properties = 120; properties > 0; properties -= 1) {
    readJsonEntity(body(properties));
  }
  expect(heapMegabytes() - before).toBeLessThan(40);
});
