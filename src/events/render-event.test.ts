import { describe, expect, it } from "vitest";
import { eventIdOf, sequencerOf, type EventRecord } from "../account/event-log.ts";
import { parseIso } from "../base/dates.ts";
import { toCloudEvent, toEventGrid } from "./render-event.ts";

const source = {
  account: "photos",
  blobUrl: "http://127.0.0.1:10000/photos",
  fileUrl: "http://127.0.0.1:10003/photos",
};
const time = parseIso("2024-06-26T18:41:00.9584103Z")!;
const created: EventRecord = {
  type: "BlobCreated",
  api: "PutBlockList",
  time,
  container: "box",
  path: "a b/ü.txt",
  requestId: "831e1650-001e-001b-66ab-eeb76e123456",
  clientRequestId: "mine",
  etag: 0x8d4bcc2e4835cd0n,
  contentType: "text/plain",
  contentLength: 524_288,
  blobType: "BlockBlob",
  endpoint: "http://localhost:10000/photos",
};

describe("an event in the schema of Event Grid", () => {
  it("has the fields of the documentation", () => {
    const event = toEventGrid({ event: created, position: { sequence: 0x442, number: 1 } }, source);
    expect(event).toEqual({
      topic:
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/etagere" +
        "/providers/Microsoft.Storage/storageAccounts/photos",
      subject: "/blobServices/default/containers/box/blobs/a b/ü.txt",
      eventType: "Microsoft.Storage.BlobCreated",
      id: "831e1650-001e-001b-66ab-000004420001",
      data: {
        api: "PutBlockList",
        clientRequestId: "mine",
        requestId: "831e1650-001e-001b-66ab-eeb76e123456",
        eTag: "0x8D4BCC2E4835CD0",
        contentType: "text/plain",
        contentLength: 524_288,
        blobType: "BlockBlob",
        url: "http://localhost:10000/photos/box/a%20b/%C3%BC.txt",
        sequencer: "000000000000000000000000000004420000000000000001",
        storageDiagnostics: { batchId: "831e1650-001e-001b-66ab-000004420001" },
      },
      dataVersion: "",
      metadataVersion: "1",
      eventTime: "2024-06-26T18:41:00.9584103Z",
    });
  });

  it("names both paths of a rename", () => {
    const renamed = { path: "new", source: { container: "crate", path: "old" } };
    const event: EventRecord = { ...created, type: "BlobRenamed", ...renamed };
    const { data } = toEventGrid({ event, position: { sequence: 1, number: 0 } }, source);
    expect(data).toMatchObject({
      sourceUrl: "http://localhost:10000/photos/crate/old",
      destinationUrl: "http://localhost:10000/photos/box/new",
    });
    expect(data).not.toHaveProperty("url");
  });

  it("says whether a deletion of a directory was recursive, as text", () => {
    const event: EventRecord = { ...created, type: "DirectoryDeleted", recursive: true };
    const { data } = toEventGrid({ event, position: { sequence: 1, number: 0 } }, source);
    expect(data["recursive"]).toBe("true");
    expect(data).not.toHaveProperty("contentLength");
  });

  it("has the address of the server if the server made the change", () => {
    const { requestId: _request, endpoint: _endpoint, ...own } = created;
    const event = toEventGrid({ event: own, position: { sequence: 0x1234, number: 2 } }, source);
    expect(event.data["url"]).toBe("http://127.0.0.1:10000/photos/box/a%20b/%C3%BC.txt");
    expect(event.id).toBe("00000000-0000-1234-0000-000000000002");
  });

  it.each([
    ["BlobAsyncOperationInitiated", "Microsoft.Storage.AsyncOperationInitiated"],
    ["BlobSnapshotCreated", "Microsoft.Storage.BlobSnapshotCreated"],
    ["FileCreated", "Etagere.FileCreated"],
  ] as const)("of type %s has the name %s", (type, name) => {
    const event = { ...created, type };
    const { eventType } = toEventGrid({ event, position: { sequence: 1, number: 0 } }, source);
    expect(eventType).toBe(name);
  });
});

it("sequencers compare as text like positions", () => {
  const positions = [
    { sequence: 9, number: 0xffff },
    { sequence: 10, number: 0 },
    { sequence: 10, number: 16 },
    { sequence: 0x1_0000_0000_0, number: 0 },
  ];
  const texts = positions.map(sequencerOf);
  expect(texts.toSorted()).toEqual(texts);
  expect(texts.every((text) => text.length === 48)).toBe(true);
});

it("ids of the events of one request differ, also in several transactions", () => {
  const ids = [7, 8].flatMap((sequence) =>
    [0, 1, 0xffff].map((number) => eventIdOf({ event: created, position: { sequence, number } })),
  );
  expect(new Set(ids).size).toBe(6);
});

it("a CloudEvent has the same id, type and data", () => {
  const event = toEventGrid({ event: created, position: { sequence: 1, number: 0 } }, source);
  expect(toCloudEvent(event)).toEqual({
    id: event.id,
    source: event.topic,
    type: event.eventType,
    subject: event.subject,
    time: event.eventTime,
    specversion: "1.0",
    datacontenttype: "application/json",
    data: event.data,
  });
});
