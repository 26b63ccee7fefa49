import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { QueueCalls } from "../harness/queue-messages.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

let sim: SimQueue;
let queue: QueueCalls;

beforeAll(async () => {
  sim = await simQueue();
  queue = new QueueCalls(sim, "orders");
  await queue.create();
  await queue.put("kept");
});

const number = fc.oneof(
  fc.integer({ min: -3, max: 700_000 }).map(String),
  fc.constantFrom("", "x", "1.5", "1e3", "99999999999", "-", "0x10", " 1", "١"),
);
const wellFormedReceipt = Buffer.alloc(20, 2).toString("base64");
const query = fc
  .record(
    {
      numofmessages: number,
      visibilitytimeout: number,
      messagettl: number,
      popreceipt: fc.oneof(fc.string(), fc.base64String(), fc.constant(wellFormedReceipt)),
      marker: fc.string(),
      maxresults: number,
      include: fc.constantFrom("metadata", "x", ""),
    },
    { requiredKeys: [] },
  )
  .map((values) => new URLSearchParams(values).toString());
/** Every operation by its own route, and a few routes without an operation. */
const route = fc.constantFrom(
  ["POST", "/orders/messages?"],
  ["GET", "/orders/messages?"],
  ["GET", "/orders/messages?peekonly=true&"],
  ["PUT", "/orders/messages/01234567-89ab-4cde-8f01-23456789abcd?"],
  ["DELETE", "/orders/messages/01234567-89ab-4cde-8f01-23456789abcd?"],
  ["PUT", "/orders?"],
  ["GET", "/orders?comp=metadata&"],
  ["HEAD", "/orders?comp=metadata&"],
  ["PUT", "/orders?comp=metadata&"],
  ["GET", "/?comp=list&"],
  ["PUT", "/?restype=service&comp=properties&"],
  ["OPTIONS", "/orders/messages?"],
  ["GET", "/?comp=x&"],
  ["GET", "/orders//messages?"],
  ["GET", "/orders/messages/%00?"],
  ["GET", "/%ff?"],
  ["MERGE", "/orders?"],
);
/** Half of the bodies are empty: operations without a body reject others at once. */
const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.constant("<QueueMessage><MessageText>b</MessageText></QueueMessage>"),
  fc.constantFrom(
    "",
    "<QueueMessage><MessageText>a</MessageText></QueueMessage>",
    "<QueueMessage/>",
    "<SignedIdentifiers><SignedIdentifier/></SignedIdentifiers>",
    "<StorageServiceProperties><Cors><CorsRule/></Cors></StorageServiceProperties>",
  ),
  fc.string(),
  fc.uint8Array({ maxLength: 64 }),
);
/** Status codes of requests that passed parsing. */
const understood = new Set(["200", "201", "204", "404 MessageNotFound"]);

it("malformed input never gets 500, and rejected requests change nothing", async () => {
  const answers = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(route, query, body, async ([method = "", start = ""], words, sent) => {
      const before = await queue.count();
      const answer = await sim.send({ method, path: start + words, body: sent });
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400) expect(await queue.count()).toBe(before);
      const key = `${answer.status} ${answer.code ?? ""}`.trim();
      answers.set(key, (answers.get(key) ?? 0) + 1);
    }),
    { numRuns: 2500, seed: 5 },
  );
  // Calls that never pass routing would prove nothing.
  for (const key of understood) expect(answers.get(key), key).toBeGreaterThan(4);
  expect(answers.get("400 OutOfRangeQueryParameterValue")).toBeGreaterThan(50);
});
