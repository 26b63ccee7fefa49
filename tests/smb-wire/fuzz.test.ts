import fc from "fast-check";
import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import { close, createBody, openFile, read, write } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("fuzz");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const seed = 20_261;
const runs = 60;
const messagesPerRun = 20;

/** Bodies that begin like valid ones, so that they pass the first checks. */
const body = fc
  .record({
    size: fc.constantFrom(4, 9, 24, 25, 32, 33, 36, 41, 48, 49, 57),
    rest: fc.uint8Array({ minLength: 2, maxLength: 200 }),
  })
  .map(({ size, rest }) => Buffer.concat([Buffer.from([size, 0]), rest]));
const message = fc.record({
  command: fc.integer({ min: 0, max: 20 }),
  body: fc.oneof(body, fc.constant(createBody("fuzz.txt"))),
  flags: fc.constantFrom(0, 2, 4, 0x2000_0000),
  charge: fc.integer({ min: 0, max: 3 }),
});

describe("a server that receives malformed messages", () => {
  it("answers or disconnects, and serves other clients as before", async () => {
    const sound = await WireClient.ready(held.server.smbUrl, share);
    const file = await openFile(sound, "sound.txt");
    await write(sound, file, "sound");
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: messagesPerRun }), async (messages) => {
        const client = await WireClient.ready(held.server.smbUrl, share);
        for (const each of messages) client.begin(each.command, each.body, each);
        expect(await read(sound, file, 5)).toEqual({ status: 0, text: "sound" });
        client.end();
        await client.closed;
      }),
      { seed, numRuns: runs },
    );
    await close(sound, file);
    sound.end();
  });

  it("disconnects on bytes that are not an SMB message", async () => {
    const bytes = fc.uint8Array({ minLength: 4, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(bytes, async (noise) => {
        const client = await WireClient.open(held.server.smbUrl);
        client.sendRaw(Buffer.from(noise));
        await client.closed;
      }),
      { seed, numRuns: runs },
    );
  });
});
