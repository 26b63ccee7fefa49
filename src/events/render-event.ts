import {
  eventIdOf,
  eventTypeNames,
  isOfFile,
  sequencerOf,
  topicOf,
  type EventRecord,
  type LoggedEvent,
} from "../account/event-log.ts";
import { formatIso } from "../base/dates.ts";
import { bareETag } from "../protocol/conditions.ts";

/** Renders entries of the event log in the schemas of Event Grid and CloudEvents, for deliveries,
 *  event streams and dead letters. */

/** The account that an event names as its source. */
export interface EventSource {
  readonly account: string;
  /** URLs of the services with the account, for changes that the server made itself. */
  readonly blobUrl: string;
  readonly fileUrl: string;
}

/** An event in the schema of Event Grid.
 *  learn.microsoft.com/azure/event-grid/event-schema-blob-storage */
export interface EventGridEvent {
  readonly topic: string;
  readonly subject: string;
  readonly eventType: string;
  readonly id: string;
  readonly data: EventData;
  readonly dataVersion: "";
  readonly metadataVersion: "1";
  readonly eventTime: string;
}

type EventData = Readonly<Record<string, unknown>>;

export function subjectOf({ type, container, path }: EventRecord): string {
  return isOfFile({ type })
    ? `/fileServices/default/shares/${container}/files/${path}`
    : `/blobServices/default/containers/${container}/blobs/${path}`;
}

export function toEventGrid(logged: LoggedEvent, source: EventSource): EventGridEvent {
  const { event } = logged;
  return {
    topic: topicOf(source.account),
    subject: subjectOf(event),
    eventType: eventTypeNames[event.type],
    id: eventIdOf(logged),
    data: dataOf(logged, source),
    dataVersion: "",
    metadataVersion: "1",
    eventTime: formatIso(event.time),
  };
}

/** An event in the structured mode of CloudEvents 1.0. */
export function toCloudEvent({ topic, subject, eventType, id, data, eventTime }: EventGridEvent) {
  return {
    id,
    source: topic,
    type: eventType,
    subject,
    time: eventTime,
    specversion: "1.0",
    datacontenttype: "application/json",
    data,
  };
}

/** The field `data`; undefined fields are left out. */
function dataOf({ event, position }: LoggedEvent, source: EventSource): EventData {
  const { type, source: renamed, recursive } = event;
  const isRename = renamed !== undefined;
  const isDirectory = type.startsWith("Directory") || type.startsWith("FileDirectory");
  const url = urlOf(event, source, event);
  const names = isRename
    ? { sourceUrl: urlOf(event, source, renamed), destinationUrl: url }
    : { url };
  const content = {
    eTag: event.etag === undefined ? undefined : bareETag(event.etag),
    contentType: event.contentType,
    contentLength: event.contentLength,
    blobType: event.blobType,
    accessTier: event.tier,
  };
  return withoutUndefined({
    api: event.api,
    clientRequestId: event.clientRequestId,
    requestId: event.requestId,
    ...(isDirectory || isRename ? {} : content),
    blobVersion: event.versionId === undefined ? undefined : formatIso(event.versionId),
    snapshot: event.snapshot === undefined ? undefined : formatIso(event.snapshot),
    previousTier: event.previous?.["PreviousTier"],
    ...names,
    recursive: recursive === undefined ? undefined : String(recursive),
    sequencer: sequencerOf(position),
    storageDiagnostics: { batchId: eventIdOf({ event, position }) },
  });
}

function withoutUndefined(fields: EventData): EventData {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function urlOf(
  { type, endpoint }: EventRecord,
  { blobUrl, fileUrl }: EventSource,
  { container, path }: Pick<EventRecord, "container" | "path">,
): string {
  const base = endpoint ?? (isOfFile({ type }) ? fileUrl : blobUrl);
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `${base}/${container}/${encoded}`;
}
