import { noETag } from "../../operation/operation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { operation } from "../resources.ts";

/** Blob Batch: up to 256 deletions or changes of tier in one request. `http/batch` parses and runs
 *  the parts. */

/** Azure's limit of the body of a batch, in bytes. */
const batchBytesMax = 4 * 1024 * 1024;

interface BatchBody {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** The body is passed on as bytes: `http/batch` parses and runs its parts. */
const body = {
  kind: "bytes",
  bytesMax: batchBytesMax,
  parse: (bytes: Uint8Array, contentType: string): Result<BatchBody> => ok({ bytes, contentType }),
} as const;

/** What the declarations of Blob Batch, of an account and of a container, have in common. */
const batch = {
  name: "Blob Batch",
  body,
  namedResources: [{ kind: "parts", credentials: "own" }],
  target: "must-exist",
  ...noETag,
  effect: "reads",
  status: 202,
} as const;

/** Declares Blob Batch. Each part is authorised and executed separately; the batch is not a
 *  transaction. learn.microsoft.com/rest/api/storageservices/blob-batch */
function declareBatch(ids: readonly string[], query: Readonly<Record<string, string>>) {
  return operation({
    ...batch,
    ids,
    route: { method: "POST", resource: "service", query },
    since: "2018-11-09",
    permission: { resourceType: "sco", sas: "account-only" },
    decide: ({ input }) => ({ body: { batch: input.body } }),
  });
}

export const submitBatch = [
  declareBatch(["Service_SubmitBatch"], { comp: "batch" }),
  // With path-style addresses, the JavaScript client library sends the account name in place of a
  // container.
  declareBatch([], { restype: "container", comp: "batch" }),
];

/** Blob Batch whose parts must address blobs of one container. */
export const submitContainerBatch = operation({
  ...batch,
  ids: ["Container_SubmitBatch"],
  route: {
    method: "POST",
    resource: "container",
    query: { restype: "container", comp: "batch" },
  },
  since: "2020-04-08",
  permission: { resourceType: "co" },
  decide: ({ input, address }) => ({
    body: { batch: { ...input.body, within: address.container } },
  }),
});
