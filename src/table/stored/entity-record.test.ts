import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { edm, type Property } from "../edm/edm.ts";
import { doubleText, writeEntity, type RenderOptions } from "../json/write-entity.ts";
import { entityCodec, entityRecord } from "./entity-record.ts";
import { recordCodec, RecordTooNew } from "../../encoding/table.ts";

const etag = 638_000_000_012_345_678n;
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom("x".repeat(20_000), "\uD800".repeat(20_000)),
);
const name = fc.oneof(fc.stringMatching(/^[A-Za-z_]\w{0,30}$/), fc.constantFrom("größe", "数"));
const property: fc.Arbitrary<Property> = fc.oneof(
  fc.tuple(name, fc.constant(edm.string), text),
  fc.tuple(name, fc.constant(edm.guid), fc.uuid()),
  fc.tuple(name, fc.constant(edm.boolean), fc.boolean()),
  fc.tuple(name, fc.constant(edm.int32), fc.integer()),
  fc.tuple(name, fc.constant(edm.double), fc.double()),
  fc.tuple(name, fc.constantFrom(edm.int64, edm.dateTime), int64),
  fc.tuple(name, fc.constant(edm.binary), fc.uint8Array()),
);
const properties = fc.uniqueArray(property, { selector: ([own]) => own, maxLength: 8 });

const place = { table: "t", account: "a", endpoint: "http://h/a", select: undefined };

function written(stored: readonly Property[], format: RenderOptions["format"]): string {
  const out = new TextBytes();
  const record = entityRecord(etag, stored);
  writeEntity(out, { partitionKey: "p", rowKey: 'r"', record }, { ...place, format });
  return Buffer.from(out.bytes()).toString("utf8");
}

describe("a stored entity", () => {
  it("has its own ETag, independently of the entity encoded before", () => {
    const stamps = fc.array(fc.constantFrom(etag, etag + 1n, 0n), { maxLength: 8 });
    const large: Property = ["large", edm.string, "x".repeat(100_000)];
    fc.assert(
      fc.property(stamps, fc.boolean(), (given, isLarge) => {
        const records = given.map((newETag) => entityRecord(newETag, isLarge ? [large] : []));
        expect(records.map((record) => record.etag)).toEqual(given);
        expect(records.map(({ bytes }) => entityCodec.decode(bytes).etag)).toEqual(given);
      }),
    );
  });

  it("returns all properties and each property as written", () => {
    fc.assert(
      fc.property(properties, (stored) => {
        const record = entityCodec.decode(entityCodec.encode(entityRecord(etag, stored)));
        expect(record.etag).toBe(etag);
        expect(record.properties).toEqual(stored);
        for (const [own, type, value] of stored) {
          expect(record.find(own)).toEqual({ type, value });
        }
        expect(record.find("Ã¶")).toBeUndefined();
      }),
    );
  });

  it("is rendered with values as JSON.stringify writes them", () => {
    fc.assert(
      fc.property(properties, (stored) => {
        const plain = stored.filter(([, type]) => type === edm.string || type === edm.int32);
        const members = plain.map(([own, , value]) => `,"${own}":${JSON.stringify(value)}`);
        const keys = '{"PartitionKey":"p","RowKey":"r\\"",';
        const moment = '"Timestamp":"2022-09-28T22:13:21.2345678Z"';
        expect(written(plain, "nometadata")).toBe(`${keys}${moment}${members.join("")}}`);
      }),
    );
  });

  it("is rendered with annotations for types that JSON syntax does not imply", () => {
    const stored: readonly Property[] = [
      ["i", edm.int64, 5n],
      ["n", edm.double, Number.NaN],
      ["d", edm.double, 2],
      ["g", edm.guid, "00000000-0000-0000-0000-000000000001"],
    ];
    expect(written(stored, "minimalmetadata")).toContain(
      ',"i@odata.type":"Edm.Int64","i":"5","n@odata.type":"Edm.Double","n":"NaN"' +
        `,"d":${doubleText(2)},"g@odata.type":"Edm.Guid","g":"00000000-`,
    );
  });

  it("of version 1 is decoded, one of a later version is rejected", () => {
    const stored: Property[] = [["s", edm.string, "text"]];
    const first = recordCodec<object>({ version: 1 }).encode({ etag, properties: stored });
    expect(entityCodec.decode(first).properties).toEqual(stored);
    expect(entityCodec.decode(first).etag).toBe(etag);
    expect(() => entityCodec.decode(new Uint8Array([3]))).toThrow(RecordTooNew);
  });
});
