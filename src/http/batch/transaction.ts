import { once } from "../../process/memo.ts";
import { bodyTooLarge } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { execute, type Outcome } from "../../operation/execute.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { partOf, preparePart, runChangeSet, type WriteParts } from "./change-set.ts";
import { collect, unwrapStructured } from "../request/body.ts";
import { serverBusy } from "../limits/processing-limits.ts";
import type { HttpService } from "../http-service.ts";
import { boundaryOf, parseMultipart, writeMultipart, type Part } from "./multipart.ts";
import { envelopeOf, renderOutcome } from "../render.ts";
import {
  rejected,
  type CompletedRequest,
  type SelectedRequest,
} from "../request/request-context.ts";

/** Runs an entity group transaction of the Table service: its multipart body has one change set of
 *  up to 100 writes, or a single query. Called by `http/pipeline.ts` instead of the steps from
 *  `prepareCall` on. */

/** Most parts that the parser accepts. Table transactions may have 100; the limit is higher, so
 *  that a request with too many gets the fault of the Table service and not that of the parser. */
const partsMax = 1000;

export async function runTransaction(
  http: HttpService,
  batch: SelectedRequest,
): Promise<CompletedRequest> {
  const { request, operation, version } = batch;
  if (operation.body.kind !== "transaction") throw new Error(`${operation.name} has no parts`);
  const unwrapped = unwrapStructured(request, operation, version);
  if (!unwrapped.ok) return rejected(batch, unwrapped);
  const boundary = boundaryOf(request.headers["content-type"] ?? "");
  if (boundary === undefined) return rejected(batch, fail("InvalidInput"));
  const { bytesMax } = operation.body;
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    return rejected(batch, bodyTooLarge(bytesMax));
  }
  request.proceed();
  const bytes = await collect(request, bytesMax);
  if (!bytes.ok) return rejected(batch, bytes === serverBusy ? serverBusy : bodyTooLarge(bytesMax));
  const { transactions: limiter } = http.processing;
  if (limiter.isFullFor(bytes.value.length)) return rejected(batch, serverBusy);
  return limiter.within(bytes.value.length, () => runParts(http, batch, bytes.value, boundary));
}

async function runParts(
  http: HttpService,
  batch: SelectedRequest,
  bytes: Uint8Array,
  boundary: string,
): Promise<CompletedRequest> {
  const parts = parseMultipart(bytes, boundary, { partsMax });
  if (!parts.ok) return rejected(batch, parts);
  const [only] = parts.value;
  if (only === undefined || parts.value.length > 1) return rejected(batch, fail("InvalidInput"));
  const inner = boundaryOf(only.headers["content-type"] ?? "");
  if (inner === undefined) return { context: batch, result: await runQuery(http, batch, only) };
  const changes = parseMultipart(only.body, inner, { partsMax });
  if (!changes.ok) return rejected(batch, changes);
  const changeSet = await runChangeSet(http, batch, changes.value);
  const changeBoundary = `changesetresponse_${newGuid(http.runtime.random)}`;
  const write: WriteParts = (out, outer) => {
    out.append(`--${outer}\r\nContent-Type: multipart/mixed; boundary=${changeBoundary}\r\n\r\n`);
    changeSet.write(out, changeBoundary);
    // The closing delimiter of the change set is directly followed by that of the batch.
    out.append(`--${outer}--\r\n`);
  };
  return { context: batch, result: ok(replyOf(http, write)), parts: changeSet.parts };
}

async function runQuery(
  http: HttpService,
  batch: SelectedRequest,
  part: Part,
): Promise<Result<Outcome>> {
  const { context, call } = await preparePart(http, batch, part);
  if (!call.ok) return call;
  if (call.value.operation.effect !== "reads") return fail("InvalidInput");
  const outcome = await execute(http.runtime, call.value);
  const reply = renderOutcome(outcome, envelopeOf(http, context));
  const rendered = partOf(http, reply, context.request);
  return ok(replyOf(http, (out, boundary) => writeMultipart(out, boundary, [rendered])));
}

/** Reused for every response: most are about as long as the last one. */
const reusedText = once(() => new TextBytes());

function written(write: WriteParts, boundary: string): Uint8Array {
  const text = reusedText();
  write(text, boundary);
  const bytes = Buffer.from(text.bytes());
  text.clear();
  return bytes;
}

function replyOf(http: HttpService, write: WriteParts): Outcome {
  const boundary = `batchresponse_${newGuid(http.runtime.random)}`;
  return {
    kind: "reply",
    status: 202,
    headers: [{ "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff" }],
    metadata: undefined,
    etag: undefined,
    body: {
      type: `multipart/mixed; boundary=${boundary}`,
      bytes: written(write, boundary),
    },
    reader: undefined,
  };
}
