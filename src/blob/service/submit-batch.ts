import { ok, type Result } from "../../protocol/result.ts";
import { operation } from "../resources.ts";

const batchBytesMax = 4 * 1024 * 1024;

interface BatchBody {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** The parts are parsed and run by `http/batch`. */
const body = {
  kind: "bytes",
  bytesMax: batchBytesMax,
  parse: (bytes: Uint8Array, contentType: string): Result<BatchBody> => ok({ bytes, contentType }),
} as const;

/** Each part is authorised and executed by itself; the batch is not a transaction.
 *  learn.microsoft.com/rest/api/storageservices/blob-batch */
function declareBatch(ids: readonly string[], query: Readonly<Record<string, string>>) {
  return operation({
    name: "Blob Batch",
    ids,
    route: { method: "POST", resource: "service", query },
    since: "2018-11-09",
    params: {},
    body,
    namedResources: [{ kind: "parts", credentials: "own" }],
    permission: { resourceType: "sco", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    success: { status: 202, headers: [] },
    decide: ({ input }) => ({ body: { batch: input.body } }),
  });
}

export const submitBatch = [
  declareBatch(["Service_SubmitBatch"], { comp: "batch" }),
  // With path-style addresses the JavaScript library takes the account name for a container.
  declareBatch([], { restype: "container", comp: "batch" }),
];

/** A batch whose parts must address blobs of one container. */
export const submitContainerBatch = operation({
  name: "Blob Batch",
  ids: ["Container_SubmitBatch"],
  route: {
    method: "POST",
    resource: "container",
    query: { restype: "container", comp: "batch" },
  },
  since: "2020-04-08",
  params: {},
  body,
  namedResources: [{ kind: "parts", credentials: "own" }],
  permission: { resourceType: "co" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 202, headers: [] },
  decide: ({ input, address }) => ({
    body: { batch: { ...input.body, within: address.container } },
  }),
});
