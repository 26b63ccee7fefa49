import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { freshName, testServer } from "../harness/server.ts";
import { soundMessages, type Sound } from "./sound-messages.ts";
import { WireClient } from "./wire-client.ts";
import { close, openFile, read, write } from "./wire-messages.ts";
import { inForm } from "../harness/long-form.ts";

const folder = temporaryFolder();
const logFile = join(folder, "debug.log");
const held = testServer({ debug: logFile });
let share: ShareClient;

beforeAll(async () => {
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  share = service.getShareClient(freshName("fuzz"));
  await share.create();
});

afterAll(() => {
  // An unhandled exception closes the connection, which alone would look like a rejected client.
  expect(readFileSync(logFile, "utf8")).not.toContain("unexpectedly");
});

const seed = Number(process.env["ETAGERE_FUZZ_SEED"] ?? 20_262);
const runs = Number(process.env["ETAGERE_FUZZ_RUNS"] ?? inForm(50, 150));
const messagesMax = 16;
const answerMillisecondsMax = 30_000;
const fleetingFile = 0x1000;
const fleetingDirectory = 0x1001;
const growthBytesMax = 24 * 1024 * 1024;

/** Mutations of a valid message: changed bytes, truncation, odd headers. */
const spoilt = fc.record({
  which: fc.nat(),
  edits: fc.array(fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) }), {
    maxLength: 4,
  }),
  keep: fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  ),
  flags: fc.constantFrom(0, 0, 0, 0, 2, 4, 0x1000_0000, 0x2000_0000),
  charge: fc.constantFrom(1, 1, 1, 0, 2),
  stranger: fc.constantFrom({}, {}, {}, { treeId: 0xffff_ffff }, { sessionId: 77n }),
});
type Spoilt = typeof spoilt extends fc.Arbitrary<infer T> ? T : never;

function spoil(sound: readonly Sound[], { which, edits, keep }: Spoilt): Sound {
  const { command, body } = sound[which % sound.length]!;
  const bytes = Buffer.from(body.subarray(0, Math.ceil(body.length * keep)));
  for (const { at, value } of edits) if (bytes.length > 0) bytes[at % bytes.length] = value;
  return { command, body: bytes };
}

/** Sends the messages, then expects one more response or a disconnect. */
async function misbehave(messages: readonly Spoilt[]): Promise<void> {
  const client = await WireClient.ready(held.server.smbUrl, share.name);
  // A share per client: read-only files that one leaves must not affect the next.
  const directory = await openFile(client, freshName("d"), { options: fleetingDirectory });
  const file = await openFile(client, freshName("f"), { options: fleetingFile });
  const sound = soundMessages(file, directory);
  for (const each of messages) {
    const { command, body } = spoil(sound, each);
    client.begin(command, body, { flags: each.flags, charge: each.charge, ...each.stranger });
  }
  let guard: NodeJS.Timeout | undefined;
  const hangs = new Promise((_, reject) => {
    guard = setTimeout(
      () => reject(new Error("neither answered nor ended")),
      answerMillisecondsMax,
    );
  });
  await Promise.race([client.ask(13, Buffer.from([4, 0, 0, 0])), client.closed, hangs]);
  clearTimeout(guard);
  client.end();
  await client.closed;
}

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

function attack(numRuns: number, offset: number): Promise<void> {
  const messages = fc.array(spoilt, { minLength: 1, maxLength: messagesMax });
  return fc.assert(fc.asyncProperty(messages, misbehave), {
    seed: seed + offset,
    numRuns,
    endOnFailure: true,
  });
}

describe("a session with malformed messages", () => {
  it("affects no other client, always gets a response or a disconnect, and leaks no handle and no memory", async () => {
    const sound = await WireClient.ready(held.server.smbUrl, share.name);
    const file = await openFile(sound, "sound.txt");
    await write(sound, file, "sound");
    await attack(runs, 0);
    const before = heapBytes();
    await attack(runs, 1);
    expect(heapBytes() - before).toBeLessThan(growthBytesMax);
    expect(await read(sound, file, 5)).toEqual({ status: 0, text: "sound" });
    await close(sound, file);
    sound.end();
    await expect.poll(openHandles).toEqual([]);
  });

  it("may use its message ids in any order", async () => {
    const client = await WireClient.ready(held.server.smbUrl, share.name);
    const echo = Buffer.from([4, 0, 0, 0]);
    // The first request obtains enough credits to choose from.
    await client.ask(13, echo, { credits: 64 });
    const frames = Array.from({ length: 20 }, () => client.prepare(13, echo));
    for (const { send } of frames.toReversed()) send();
    const answers = await Promise.all(frames.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual(frames.map(() => 0));
    client.end();
  });

  it("is disconnected for invalid encrypted or compressed frames", async () => {
    const noise = fc.record({
      magic: fc.constantFrom(0xfd, 0xfc),
      rest: fc.uint8Array({ maxLength: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(noise, async ({ magic, rest }) => {
        const client = await WireClient.ready(held.server.smbUrl, share.name);
        client.sendRaw(Buffer.concat([Buffer.from([magic, 0x53, 0x4d, 0x42]), rest]));
        await client.closed;
      }),
      { seed, numRuns: 30 },
    );
  });
});

async function openHandles(): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const root = share.rootDirectoryClient;
  for await (const handle of root.listHandles({ recursive: true })) found.push(handle);
  return found;
}
