import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blobInputs } from "./inputs/blob-inputs.ts";
import { bodyInputs } from "./inputs/body-inputs.ts";
import { otherInputs } from "./inputs/other-inputs.ts";
import { queryInputs } from "./inputs/query-inputs.ts";
import { tableInputs } from "./inputs/table-inputs.ts";
import { stallClients, type AbusiveInput, type StallClients } from "./inputs/stall-client.ts";
import { stallMillisecondsMax, startStallServer, type StallServer } from "./loop-stall.ts";

/** In this order, because some use data that earlier ones stored. */
const inputs: readonly AbusiveInput[] = [
  ...blobInputs,
  ...bodyInputs,
  ...queryInputs,
  ...tableInputs,
  ...otherInputs,
];

/** Requests that are sent at the same time share the limit of one. */
const requestsAtOnce = 8;

/** The shortest of several measurements counts: garbage collection and other processes only add. */
const runsMax = 5;

/** The shortest stall of each input; the largest are printed at the end. */
const measured: { name: string; atOnce: number; milliseconds: number }[] = [];

let server: StallServer;
let clients: StallClients;

beforeAll(async () => {
  server = await startStallServer({ flags: ["--silent"] });
  clients = stallClients(server);
});
afterAll(async () => {
  const largest = measured.toSorted((one, other) => other.milliseconds - one.milliseconds);
  for (const { milliseconds, atOnce, name } of largest.slice(0, 10)) {
    console.log(`${milliseconds.toFixed(0)} ms: ${name}, ${atOnce} at once`);
  }
  await server.stop();
});

describe(`no request or disconnect blocks the loop for ${stallMillisecondsMax} ms`, () => {
  it.each(inputs)(
    `$name, alone and ${requestsAtOnce} at once`,
    { timeout: 900_000 },
    async (input) => {
      const action = await expectNoStall(input, 1);
      if (input.isPreparedAgain === true) return;
      await expectNoStallOf(input.name, () => action, requestsAtOnce);
    },
  );
});

const queriesAtOnce = 60;

describe(`no ${queriesAtOnce} queries at once block it for ${stallMillisecondsMax} ms`, () => {
  const queries = queryInputs.filter(({ name }) => name.includes("many empty lines"));
  it.each(queries)("$name", { timeout: 900_000 }, async (input) => {
    await expectNoStall(input, queriesAtOnce);
  });
});

type Action = Awaited<ReturnType<AbusiveInput["prepare"]>>;

/** Returns the last action that was prepared. */
async function expectNoStall(input: AbusiveInput, atOnce: number): Promise<Action> {
  let action = await input.prepare(clients);
  await expectNoStallOf(
    input.name,
    async (run) => {
      if (run > 0 && input.isPreparedAgain === true) action = await input.prepare(clients);
      return action;
    },
    atOnce,
  );
  return action;
}

async function expectNoStallOf(
  name: string,
  actionOf: (run: number) => Action | Promise<Action>,
  atOnce: number,
): Promise<void> {
  let shortest = Infinity;
  for (let run = 0; run < runsMax && shortest >= stallMillisecondsMax; run += 1) {
    const action = await actionOf(run);
    const { milliseconds } = await server.measure(() =>
      Promise.all(Array.from({ length: atOnce }, action)),
    );
    shortest = Math.min(shortest, milliseconds);
  }
  measured.push({ name, atOnce, milliseconds: shortest });
  expect(shortest).toBeLessThan(stallMillisecondsMax);
}
