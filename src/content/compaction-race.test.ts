import { expect, test } from "vitest";
import type { ExtentFiles } from "./extent-files.ts";
import { memoryFiles } from "./memory-files.ts";
import { whole, write } from "./plan.ts";
import { expectSame, openContentFixture, pattern, type ContentFixture } from "./testing.ts";

const extentBytes = 256 * 1024;
const pieceBytes = 300;
const pieces = 40;

/** Files whose first read, which is compaction's, is preceded by something else. */
function filesWith(beforeFirstRead: () => Promise<void>): ExtentFiles {
  const files = memoryFiles({ bytesMax: 2 ** 30 });
  let isFirst = true;
  return {
    ...files,
    async open(extent) {
      const file = await files.open(extent);
      return {
        ...file,
        async read(bytes, position) {
          if (isFirst) {
            isFirst = false;
            await beforeFirstRead();
          }
          return file.read(bytes, position);
        },
      };
    },
  };
}

async function append(shelf: ContentFixture, index: number): Promise<void> {
  const received = await shelf.receive(pattern(pieceBytes, index));
  await shelf.put("log", (base) => write(base, index * pieceBytes, received));
  shelf.content.discard(received);
}

async function fill(shelf: ContentFixture, bytes: number): Promise<void> {
  const received = await shelf.receive(pattern(bytes, bytes));
  await shelf.put("filler", () => whole(received));
  shelf.content.discard(received);
}

test("a leaf that is replaced while its bytes are copied is not counted twice", async () => {
  let appends = 0;
  const shelf: ContentFixture = await openContentFixture({
    files: filesWith(async () => {
      appends += 1;
      await append(shelf, pieces);
    }),
    extentBytes,
  });
  // Something between the pieces, or they would become one slice.
  for (let index = 0; index < pieces; index += 1) {
    await append(shelf, index);
    await fill(shelf, pieceBytes);
  }
  expect((await shelf.get("log"))?.kind).toBe("tree");
  // The rest of the extent is filled and given up, so that what is left is worth moving.
  for (let index = 0; index < 14; index += 1) await fill(shelf, 20_000);
  await shelf.remove("filler");
  await shelf.reclaimAll();
  expect(appends).toBe(1);
  const expected = Array.from({ length: pieces + 1 }, (_, index) => pattern(pieceBytes, index));
  expectSame(await shelf.read("log"), new Uint8Array(Buffer.concat(expected)));
});
