import { expect, test } from "vitest";
import type { ExtentFiles } from "../extents/extent-files.ts";
import { memoryFiles } from "../extents/memory-files.ts";
import { whole, write } from "../content-ref.ts";
import {
  expectSame,
  openContentFixture,
  pattern,
  type ContentFixture,
} from "../../../tests/harness/content-fixture.ts";

const extentBytes = 256 * 1024;
const pieceBytes = 300;
const pieces = 40;

/** Extent storage that runs a callback before the first read, which is compaction's. */
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

async function append(fixture: ContentFixture, index: number): Promise<void> {
  const received = await fixture.receive(pattern(pieceBytes, index));
  await fixture.put("log", (base) => write(base, index * pieceBytes, received));
  fixture.content.discard(received);
}

async function fill(fixture: ContentFixture, bytes: number): Promise<void> {
  const received = await fixture.receive(pattern(bytes, bytes));
  await fixture.put("filler", () => whole(received));
  fixture.content.discard(received);
}

test("a leaf that is replaced while its bytes are copied is not counted twice", async () => {
  let appends = 0;
  const fixture: ContentFixture = await openContentFixture({
    files: filesWith(async () => {
      appends += 1;
      await append(fixture, pieces);
    }),
    extentBytes,
  });
  // A gap between the pieces; otherwise they would be merged into one slice.
  for (let index = 0; index < pieces; index += 1) {
    await append(fixture, index);
    await fill(fixture, pieceBytes);
  }
  expect((await fixture.get("log"))?.kind).toBe("tree");
  // The rest of the extent is filled and deleted, so that it becomes sparse.
  for (let index = 0; index < 14; index += 1) await fill(fixture, 20_000);
  await fixture.remove("filler");
  await fixture.reclaimAll();
  expect(appends).toBe(1);
  const expected = Array.from({ length: pieces + 1 }, (_, index) => pattern(pieceBytes, index));
  expectSame(await fixture.read("log"), new Uint8Array(Buffer.concat(expected)));
});
