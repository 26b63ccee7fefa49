import { expect, it } from "vitest";
import { runTour } from "../../examples/tour/run-tour.ts";
import { blobConditions } from "../../examples/tour/steps/blob-conditions.ts";
import { containerConditions } from "../../examples/tour/steps/container-conditions.ts";
import { leaseLife } from "../../examples/tour/steps/lease-life.ts";
import { queueConsumers } from "../../examples/tour/steps/queue-consumers.ts";
import { terminalPrinter, type Step } from "../../examples/tour/tour.ts";

/** What the tour prints about one step. */
async function outputOf(step: Step): Promise<string> {
  const lines: string[] = [];
  const printer = terminalPrinter((line) => lines.push(line), false);
  expect(await runTour(printer, [step])).toEqual([]);
  return lines.join("\n");
}

it("prints the dates and the source condition of a request", async () => {
  const output = await outputOf(blobConditions);
  expect(output).toMatch(/→ PUT \S+comp=metadata {2}if-unmodified-since: .* GMT\n {4}← 412/);
  expect(output).toMatch(/→ PUT \S+copy.txt.* {2}x-ms-source-if-match: "0x\w+"\n {4}← 412/);
});

it("prints the conditions of a container, and no signature", async () => {
  const output = await outputOf(containerConditions);
  expect(output).toMatch(/→ PUT \S+ {2}if-modified-since: .* GMT\n {4}← 412/);
  expect(output).toMatch(/→ DELETE \S+ {2}if-unmodified-since: .* GMT\n {4}← 412/);
  expect(output).toMatch(/→ PUT \S+ {2}if-match: "0x\w+"\n {4}← 412/);
  expect(output).not.toContain("sig=");
});

it("says by how much the clock is advanced before something expires", async () => {
  const expiry = await outputOf(leaseLife);
  expect([...expiry.matchAll(/clock is advanced by (\d+) s/g)].map(([, s]) => s)).toEqual([
    "14",
    "14",
    "2",
  ]);
  expect(await outputOf(queueConsumers)).toContain("clock is advanced by 60 s");
});

it("prints the pop receipt that a request has", async () => {
  const output = await outputOf(queueConsumers);
  expect(output).toMatch(/→ DELETE \S+\?popreceipt=\S+\n {4}← 400/);
  expect(output).not.toContain("timeout=30");
});
