import { ok, type Result } from "../protocol/result.ts";
import { execute, type Call, type Outcome } from "../operation/execute.ts";
import { serverBusy } from "./server-busy.ts";
import { LargeResponseLimiter } from "./large-response-limiter.ts";
import type { HttpService, RequestState } from "./http-service.ts";
import { selectOperation, prepareCall } from "./prepare.ts";
import { authenticate, resolveTarget } from "./target.ts";
import { runTransaction } from "./transaction.ts";
import type { WireRequest } from "./wire.ts";

/** The steps of every request, in order. The first fault ends it. */
export async function runPipeline(
  door: HttpService,
  request: WireRequest,
  progress: RequestState,
): Promise<Result<Outcome>> {
  if (request.isSurplus === true) return serverBusy;
  const target = resolveTarget(door, request, progress);
  if (!target.ok) return target;
  const known = authenticate(door, request, target.value);
  if (!known.ok) return known;
  progress.principal = known.value.principal;
  const operation = selectOperation(door, request, target.value, known.value, progress);
  if (!operation.ok) return operation;
  if (operation.value.body.kind === "transaction") {
    const batch = { request, target: target.value, known: known.value, progress };
    return runTransaction(door, batch, operation.value.body.bytesMax);
  }
  const call = await prepareCall(
    door,
    request,
    target.value,
    known.value,
    operation.value,
    progress,
  );
  if ("outcome" in call) return ok(call.outcome);
  if (!call.ok) return call;
  progress.call = call.value;
  if (operation.value.largeResponse !== true) return ok(await decide(door, call.value));
  if (bulkTurns.isFull) return serverBusy;
  await bulkTurns.enter();
  try {
    return ok(await decide(door, call.value));
  } finally {
    bulkTurns.leave();
  }
}

/** Of all services: they share the memory. */
const bulkTurns = new LargeResponseLimiter();

/** The transaction. Whether a record came to own the body's bytes or not, the request is over with
 *  them, and content gives back those that nobody owns. */
async function decide({ runtime }: HttpService, call: Call): Promise<Outcome> {
  try {
    return await execute(runtime, call);
  } finally {
    if (call.received !== undefined) runtime.content.discard(call.received);
  }
}
