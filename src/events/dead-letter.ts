import { accountDefaults, type Accounts } from "../account/settings.ts";
import type { RetryRecord } from "../account/subscription.ts";
import { formatIso } from "../base/dates.ts";
import type { Ticks } from "../base/ticks.ts";
import { createContainer } from "../blob/container/container-lifecycle.ts";
import type { BlobAddress } from "../blob/resources.ts";
import { blobService } from "../blob/service.ts";
import { putBlockBlob } from "../blob/write/put-blob.ts";
import { inlineWholeBytesMax, type ReceivedBody } from "../content/content-ref.ts";
import { oneChunk, type ContentStore } from "../content/content.ts";
import { newGuid } from "../operation/identifiers.ts";
import type { Call, Outcome } from "../operation/execute.ts";
import type { Operation } from "../operation/operation.ts";
import { run } from "../operation/run.ts";
import { isWaitOutcome, type Attempt, type Runtime } from "../operation/work.ts";
import { noConditions } from "../protocol/conditions.ts";
import { parseParams, type ParamReader } from "../protocol/params.ts";
import { ok } from "../protocol/result.ts";
import { latestVersion } from "../protocol/versions.ts";
import type { EventGridEvent } from "./render-event.ts";

/** Dead letters: blobs with events that could not be delivered, in the form in which Azure Event
 *  Grid writes them. `delivery-commit.ts` and `log-retention.ts` store them. */

/** Where the dead letters of a subscription are written. */
export interface DeadLetterPlace {
  readonly account: string;
  readonly container: string;
  readonly subscription: string;
}

/** A dead letter whose bytes are stored, so that a transaction can create the blob. */
export interface DeadLetter {
  readonly name: string;
  readonly received: ReceivedBody;
}

const letterBytesMax = 1024 * 1024;

/** The content of a dead letter: the event, and why it could not be delivered.
 *  learn.microsoft.com/azure/event-grid/manage-event-delivery */
export function letterOf(
  event: EventGridEvent,
  { attempts, lastFailure, lastStatus, lastAttemptAt }: Omit<RetryRecord, "event" | "nextAt">,
  reason: string,
): object {
  return {
    ...event,
    deadLetterReason: reason,
    deliveryAttempts: attempts,
    lastDeliveryOutcome: lastFailure ?? reason,
    ...(lastStatus !== undefined && { lastHttpStatusCode: lastStatus }),
    publishTime: event.eventTime,
    ...(lastAttemptAt !== undefined && { lastDeliveryAttemptTime: formatIso(lastAttemptAt) }),
  };
}

/** Stores the bytes of a dead letter: a list with one object. The blob's name has the hour, as in
 *  Event Grid. */
export async function receiveLetter(
  { content, random }: Pick<Runtime, "content" | "random">,
  { subscription }: DeadLetterPlace,
  now: Ticks,
  letter: object,
): Promise<DeadLetter> {
  const bytes = Buffer.from(JSON.stringify([letter]));
  const received = await receiveBytes(content, bytes);
  const hour = formatIso(now).slice(0, 13).replace("T", "/").replaceAll("-", "/");
  return { name: `${subscription}/${hour}/${newGuid(random)}.json`, received };
}

function receiveBytes(content: ContentStore, bytes: Uint8Array): Promise<ReceivedBody> {
  const { length } = bytes;
  const limits = { length, lengthMax: letterBytesMax, inlineBytesMax: inlineWholeBytesMax };
  return content.receive(oneChunk(bytes), { ...limits, md5: true, crc64: false });
}

/** Stores a dead letter with Put Blob, in the transaction of the attempt. Creates the container if
 *  it does not exist. Returns the code of the fault if it cannot be stored now. */
export async function storeLetter(
  attempt: Attempt,
  accounts: Accounts,
  place: DeadLetterPlace,
  letter: DeadLetter,
): Promise<string | undefined> {
  const put = blobCall(attempt, accounts, place, letter);
  const first = await outcomeOf(attempt, put);
  if (first.kind === "fault" && first.fault.code === "ContainerNotFound") {
    const created = await outcomeOf(attempt, containerCall(attempt, accounts, place));
    if (created.kind === "fault") return created.fault.code;
    return codeOf(await outcomeOf(attempt, put));
  }
  return codeOf(first);
}

function codeOf(outcome: Outcome): string | undefined {
  return outcome.kind === "fault" ? outcome.fault.code : undefined;
}

async function outcomeOf(attempt: Attempt, call: Call): Promise<Outcome> {
  const outcome = await run(attempt, call);
  if (isWaitOutcome(outcome)) throw new Error(`${call.operation.name} must not wait`);
  return outcome;
}

function blobCall(
  attempt: Attempt,
  accounts: Accounts,
  place: DeadLetterPlace,
  { name, received }: DeadLetter,
): Call {
  const address = { ...addressOf(place), resource: "blob", blob: name } as const;
  const headers = { "x-ms-blob-content-type": "application/json" };
  return { ...callOf(attempt, accounts, place, putBlockBlob, headers), address, received };
}

function containerCall(attempt: Attempt, accounts: Accounts, place: DeadLetterPlace): Call {
  return { ...callOf(attempt, accounts, place, createContainer, {}), address: addressOf(place) };
}

function addressOf({ container }: DeadLetterPlace): BlobAddress {
  const none = { snapshot: undefined, versionId: undefined };
  return { resource: "container", container, blob: "", ...none };
}

/** An operation that the server calls itself, with all permissions. */
function callOf(
  { runtime }: Attempt,
  accounts: Accounts,
  { account }: DeadLetterPlace,
  operation: Operation,
  headers: Readonly<Record<string, string>>,
): Omit<Call, "address"> {
  const reader: ParamReader = {
    version: latestVersion,
    header: (name) => headers[name],
    query: () => undefined,
    headersWith: () => [],
  };
  const input = parseParams(operation.params, reader);
  if (!input.ok) throw new Error(`${operation.name} rejects its parameters: ${input.fault.code}`);
  const resource = blobService.resources[operation.route.resource];
  if (resource === undefined) throw new Error(`${operation.name} has no resource`);
  return {
    operation,
    resource,
    account,
    features: { ...accountDefaults, ...accounts.get(account), settingsRevision: undefined },
    version: latestVersion,
    endpoint: "",
    secondary: false,
    input: input.value,
    conditions: noConditions,
    leaseId: undefined,
    received: undefined,
    requestId: newGuid(runtime.random),
    clientRequestId: undefined,
    source: undefined,
    delegate: undefined,
    authorise: () => ok(undefined),
  };
}
