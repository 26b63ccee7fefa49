import { expect, it } from "vitest";
import { emptyContent } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, type BlobRecord } from "../records.ts";
import { blobCopy } from "./transfer.ts";

const waiting: BlobRecord = {
  etag: 1n,
  created: 1n,
  type: "PageBlob",
  content: emptyContent,
  headers: {},
  metadata: [],
  copy: { id: "id", source: "http://a/b", status: "pending", copiedBytes: 0, totalBytes: 512 },
};
const view = {
  now: 2n,
  get: (table: object) => Promise.resolve(table === blobs ? waiting : undefined),
  scan: () => [],
} as unknown as RecordView;
const job = { id: "id", kind: "blob-copy", scope: [1n, "b"], url: "", headers: {}, length: 512 };

it.each([
  [512, "success"],
  [1024, "success"],
  [100, "failed"],
  [8 * 1024 ** 4 + 512, "failed"],
])("ends a copy of pages that brought %i bytes as %s", async (length, status) => {
  const received = { length, pieces: [] };
  const effects = await blobCopy.finish(view, job, { ended: "success", received });
  expect(effects).toMatchObject([{ record: { copy: { status } } }]);
});
