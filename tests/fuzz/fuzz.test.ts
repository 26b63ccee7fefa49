import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { services } from "../../src/server/services.ts";
import { rawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import { fixtures, lookAt } from "./fixture.ts";
import { bytesOf, sendRaw, type RawRequest } from "./raw-socket.ts";
import { fuzzedRequest } from "./requests.ts";

/** `npm run fuzz` sets these; a failure prints the seed to set. */
const seed = Number(process.env["ETAGERE_FUZZ_SEED"] ?? 1);
const requestsPerService = Number(process.env["ETAGERE_FUZZ_REQUESTS"] ?? 800);
/** How many refused requests in a row are held against one look at the data. */
const refusedPerLook = 6;
const successesPerReset = 15;

let server: EtagereServer;

beforeAll(async () => {
  server = await start({ ...freePorts, inMemoryPersistence: true, enableReset: true });
});
afterAll(() => server.stop());

describe.each(services)(
  `1 bad input to the $name service, seed ${seed}`,
  ({ name, operations }) => {
    it("is never the server's fault, is always answered, and what is refused changes nothing", async () => {
      const url = server.urls[name] ?? "";
      const client = rawClient(url);
      const setUp = async (): Promise<string> => {
        for (const call of fixtures[name]) await client.send(call);
        return lookAt(name, client);
      };
      const random = randomFrom(seed);
      const problems: string[] = [];
      let before = await setUp();
      let successes = 0;
      let refused: RawRequest[] = [];
      const look = async (): Promise<void> => {
        const after = await lookAt(name, client);
        if (after !== before) problems.push(describeChange(before, after, refused));
        before = after;
        refused = [];
      };
      for (let count = 0; count < requestsPerService && problems.length < 5; count += 1) {
        const request = next(operations, random);
        const status = await statusOf(url, request, problems);
        if (status >= 400) refused.push(request);
        const isDone = status < 300 && request.method !== "GET" && request.method !== "HEAD";
        if (refused.length >= refusedPerLook) await look();
        if (!isDone) continue;
        // What was refused before must be held against the state before this one.
        successes += 1;
        refused = [];
        if (successes % successesPerReset === 0) await server.reset();
        before = await setUp();
      }
      await look();
      expect(problems).toEqual([]);
    }, 600_000);
  },
);

function next(operations: readonly Operation[], random: Random): RawRequest {
  return fuzzedRequest(random.pick(operations), random);
}

async function statusOf(url: string, request: RawRequest, problems: string[]): Promise<number> {
  try {
    const { status, text } = await sendRaw(url, request);
    if (status === 500) problems.push(`500 for:\n${show(request)}\n${text.slice(-500)}`);
    return status;
  } catch (error) {
    problems.push(`${String(error)} for:\n${show(request)}`);
    return 0;
  }
}

function describeChange(before: string, after: string, refused: readonly RawRequest[]): string {
  const old = before.split("\n");
  const changed = after.split("\n").findIndex((line, index) => line !== old[index]);
  const lines = `${old[changed]}\n${after.split("\n")[changed]}`;
  return `changed:\n${lines}\nby one of:\n${refused.map(show).join("\n")}`;
}

function show(request: RawRequest): string {
  return bytesOf(request)
    .toString("latin1")
    .slice(0, 700)
    .replace(/sig=\w+/, "sig=…");
}
