import { describe, expect, it } from "vitest";
import type { Subscription } from "../account/subscription.ts";
import { filterOf } from "./event-filter.ts";
import type { EventGridEvent } from "./render-event.ts";

const event: EventGridEvent = {
  topic: "/topic",
  subject: "/blobServices/default/containers/box/blobs/In/A.JPG",
  eventType: "Microsoft.Storage.BlobCreated",
  id: "1",
  data: { api: "PutBlob", contentLength: 100, blobType: "BlockBlob", nested: { isLast: true } },
  dataVersion: "",
  metadataVersion: "1",
  eventTime: "2024-01-01T00:00:00.0000000Z",
};

const base: Subscription = {
  destination: { type: "queue", queue: "events" },
  maxDeliveryAttempts: 30,
  eventTimeToLiveSeconds: 86_400,
};

const matches = (conditions: Partial<Subscription>, of = event) =>
  filterOf({ ...base, ...conditions })(of);

describe("types", () => {
  it.each([
    [undefined, "Microsoft.Storage.BlobCreated", true],
    [undefined, "Microsoft.Storage.BlobSnapshotCreated", false],
    [undefined, "Etagere.FileCreated", false],
    [["All"], "Etagere.FileCreated", true],
    [["Microsoft.Storage.BlobDeleted"], "Microsoft.Storage.BlobCreated", false],
    [["Microsoft.Storage.BlobDeleted"], "Microsoft.Storage.BlobDeleted", true],
  ])("%j: %s: %s", (eventTypes, eventType, expected) => {
    expect(matches({ eventTypes }, { ...event, eventType })).toBe(expected);
  });
});

describe("subjects", () => {
  it.each([
    [{ subjectBeginsWith: "/blobServices/default/containers/box/" }, true],
    [{ subjectBeginsWith: "/blobServices/default/containers/BOX/" }, true],
    [{ subjectBeginsWith: "/blobServices/default/containers/bo/" }, false],
    [{ subjectEndsWith: ".jpg" }, true],
    [{ subjectEndsWith: ".jpg", isSubjectCaseSensitive: true }, false],
    [{ subjectEndsWith: ".JPG", isSubjectCaseSensitive: true }, true],
  ])("%j: %s", (conditions, expected) => {
    expect(matches(conditions)).toBe(expected);
  });
});

describe("advanced filters", () => {
  it.each([
    ["StringIn", "data.api", ["putblob", "x"], true],
    ["StringIn", "data.api", ["put"], false],
    ["StringNotIn", "data.api", ["PutBlob"], false],
    ["StringNotIn", "data.none", ["PutBlob"], true],
    ["StringBeginsWith", "subject", ["/x", "/blobservices"], true],
    ["StringNotBeginsWith", "subject", ["/x", "/blobservices"], false],
    ["StringEndsWith", "Subject", [".jpg"], true],
    ["StringNotEndsWith", "subject", [".png"], true],
    ["StringContains", "subject", ["/in/"], true],
    ["StringNotContains", "subject", ["/in/"], false],
    ["StringContains", "data.contentLength", ["1"], false],
    ["NumberIn", "data.contentLength", [1, 100], true],
    ["NumberNotIn", "data.contentLength", [1, 100], false],
    ["NumberNotIn", "data.none", [1], true],
    ["NumberLessThan", "data.contentLength", [100], false],
    ["NumberLessThanOrEquals", "data.contentLength", [100], true],
    ["NumberGreaterThan", "data.contentLength", [99], true],
    ["NumberGreaterThanOrEquals", "data.contentLength", [101], false],
    [
      "NumberInRange",
      "data.contentLength",
      [
        [1, 2],
        [100, 200],
      ],
      true,
    ],
    [
      "NumberNotInRange",
      "data.contentLength",
      [
        [1, 2],
        [100, 200],
      ],
      false,
    ],
    ["BoolEquals", "data.nested.isLast", [true], true],
    ["BoolEquals", "data.nested.isLast", [false], false],
    ["IsNullOrUndefined", "data.none", [], true],
    ["IsNullOrUndefined", "data.api", [], false],
    ["IsNotNull", "data.api", [], true],
    ["IsNotNull", "data.api.more", [], false],
    ["StringIn", "eventType", ["Microsoft.Storage.BlobCreated"], true],
    ["StringIn", "type", ["Microsoft.Storage.BlobCreated"], true],
  ] as const)("%s %s %j: %s", (operatorType, key, values, expected) => {
    expect(matches({ advancedFilters: [{ operatorType, key, values }] })).toBe(expected);
  });

  it("must all hold", () => {
    const first = { operatorType: "IsNotNull", key: "data.api", values: [] };
    const second = { operatorType: "StringIn", key: "data.api", values: ["CopyBlob"] };
    expect(matches({ advancedFilters: [first] })).toBe(true);
    expect(matches({ advancedFilters: [first, second] })).toBe(false);
  });
});
