import { bodyTooLarge } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { TextBytes } from "../encoding/text-bytes.ts";
import { execute, type Outcome } from "../operation/execute.ts";
import { newGuid } from "../operation/identifiers.ts";
import { partOf, preparePart, readPart, runChangeSet } from "./change-set.ts";
import type { Batch, WriteParts } from "./change-set.ts";
import { collect } from "./body.ts";
import { serverBusy } from "./server-busy.ts";
import type { HttpService } from "./http-service.ts";
import { envelopeOf } from "./envelope.ts";
import { boundaryOf, parseMultipart, writeMultipart, type Part } from "./multipart.ts";
import { renderOutcome } from "./render.ts";
import { ByteLimiter } from "./byte-limiter.ts";

/** Beyond what any transaction may hold, so that its own limit is what clients hear of. */
const partsMax = 1000;

/** A change set runs in one transaction; a batch may instead hold a single query. */
export async function runTransaction(
  door: HttpService,
  batch: Batch,
  bytesMax: number,
): Promise<Result<Outcome>> {
  const { request } = batch;
  const boundary = boundaryOf(request.headers["content-type"] ?? "");
  if (boundary === undefined) return fail("InvalidInput");
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    return bodyTooLarge(bytesMax);
  }
  request.proceed();
  const bytes = await collect(request, bytesMax);
  if (!bytes.ok) return bytes === serverBusy ? serverBusy : bodyTooLarge(bytesMax);
  if (room.isFullFor(bytes.value.length)) return serverBusy;
  return room.within(bytes.value.length, () => runParts(door, batch, bytes.value, boundary));
}

/** Enough for some transactions of a hundred to be read while others are flushed, and no more than
 *  the collector's young generation has room for. */
const roomBytes = 640 * 1024;
const room = new ByteLimiter(roomBytes);

async function runParts(
  door: HttpService,
  batch: Batch,
  bytes: Uint8Array,
  boundary: string,
): Promise<Result<Outcome>> {
  const parts = parseMultipart(bytes, boundary, { partsMax });
  if (!parts.ok) return parts;
  const [only] = parts.value;
  if (only === undefined || parts.value.length > 1) return fail("InvalidInput");
  const inner = boundaryOf(only.headers["content-type"] ?? "");
  if (inner === undefined) return runQuery(door, batch, only);
  const changes = parseMultipart(only.body, inner, { partsMax });
  if (!changes.ok) return changes;
  const writeReplies = await runChangeSet(door, batch, changes.value);
  const name = `changesetresponse_${newGuid(door.runtime.random)}`;
  const write: WriteParts = (out, around) => {
    out.append(`--${around}\r\nContent-Type: multipart/mixed; boundary=${name}\r\n\r\n`);
    writeReplies(out, name);
    // The closing line of the change set is followed by that of the batch, with no line between.
    out.append(`--${around}--\r\n`);
  };
  return ok(answer(door, write));
}

async function runQuery(door: HttpService, batch: Batch, part: Part): Promise<Result<Outcome>> {
  const read = readPart(batch, part);
  if (!read.ok) return read;
  const { request, progress } = read.value;
  const call = await preparePart(door, batch, read.value);
  if (!call.ok) return call;
  if (call.value.operation.effect !== "reads") return fail("InvalidInput");
  const outcome = await execute(door.runtime, call.value);
  const reply = renderOutcome(outcome, envelopeOf(door, request, progress));
  const rendered = partOf(door, reply, request);
  return ok(answer(door, (out, boundary) => writeMultipart(out, boundary, [rendered])));
}

/** Room for an answer while it is written: most are about as long as the last one. */
let page = new TextBytes();
const pageBytesMax = 1024 * 1024;

function written(write: WriteParts, boundary: string): Uint8Array {
  page.clear();
  write(page, boundary);
  const bytes = Buffer.from(page.bytes());
  if (bytes.length > pageBytesMax) page = new TextBytes();
  return bytes;
}

function answer(door: HttpService, write: WriteParts): Outcome {
  const boundary = `batchresponse_${newGuid(door.runtime.random)}`;
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
