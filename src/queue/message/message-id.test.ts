import fc from "fast-check";
import { expect, it } from "vitest";
import { ticksFromUnixMilliseconds } from "../../base/ticks.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { bytesOfMessageId, messageIdOfBytes, newMessageId } from "./message-id.ts";

const guid = "11111111-2222-4333-8444-555555555555";
const earliest = ticksFromUnixMilliseconds(Date.UTC(2020, 0, 1));
const ticks = fc.bigInt({ min: 0n, max: 10n ** 16n }).map((offset) => earliest + offset);

it("a message id is a version 7 GUID and is equal after encoding and decoding", () => {
  fc.assert(
    fc.property(ticks, fc.uuid({ version: 4 }), (now, random) => {
      const id = newMessageId(now, random);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(messageIdOfBytes(bytesOfMessageId(id))).toBe(id);
    }),
  );
});

it("ids sort by insertion time, with a resolution of one microsecond", () => {
  fc.assert(
    fc.property(ticks, fc.bigInt({ min: 10n, max: 10n ** 12n }), (now, later) => {
      expect(newMessageId(now, guid) < newMessageId(now + later, guid)).toBe(true);
    }),
  );
});

it("a text that is no GUID is no message id", () => {
  expect(parseGuid(guid.toUpperCase())).toBe(guid);
  expect(parseGuid(`test-message-${guid}`)).toBeUndefined();
});
