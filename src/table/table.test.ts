import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareKeys, encodeTaggedKey, keyBytesMax } from "../encoding/keys.ts";
import { formatDateTime, parseDateTime } from "./edm/edm.ts";
import { formatEntityETag, readMatch, decodeKeyText, encodeKeyText } from "./key-text.ts";
import { parseFlatJson } from "./json/flat-json.ts";
import { doubleText } from "./json/write-entity.ts";
import { entityPath, identify } from "./path.ts";
import { formatToken, parseToken } from "./query/query-entities.ts";
import { KeyReader } from "./query/scan-entities.ts";
import { entities } from "./records.ts";

const noQuery = { get: () => undefined };
const unit = fc.integer({ min: 0x20, max: 0xffff }).map((code) => String.fromCharCode(code));
const anyText = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));
const text = fc.oneof(anyText, fc.string({ unit: "binary" }), fc.string());

describe("keys of entities", () => {
  it("are equal after encoding and decoding, and sort by UTF-16 code units", () => {
    fc.assert(
      fc.property(text, text, text, text, (p1, r1, p2, r2) => {
        expect(decodeKeyText(encodeKeyText(p1))).toBe(p1);
        const key = (partitionKey: string, rowKey: string) =>
          entities.key({ table: 7n, partitionKey, rowKey });
        const expected = p1 === p2 ? (r1 < r2 ? -1 : r1 > r2 ? 1 : 0) : p1 < p2 ? -1 : 1;
        expect(Math.sign(compareKeys(key(p1, r1), key(p2, r2)))).toBe(expected);
      }),
    );
  });

  it("are encoded independently of the key encoded before", () => {
    const table = fc.constantFrom(1n, 2n);
    const own = fc.constantFrom("", "a", "b", "\u0001", "ä", "x".repeat(keyBytesMax));
    fc.assert(
      fc.property(fc.array(fc.tuple(table, own, own), { maxLength: 12 }), (asked) => {
        for (const [id, partitionKey, rowKey] of asked) {
          const parts = [id, encodeKeyText(partitionKey), encodeKeyText(rowKey)];
          const key = () => [...entities.key({ table: id, partitionKey, rowKey })];
          if (partitionKey.length + rowKey.length > keyBytesMax - 8) expect(key).toThrow("longer");
          else expect(key()).toEqual([...encodeTaggedKey(entities.tag, parts)]);
        }
      }),
    );
  });

  it("are decoded from the encoded keys of a scan", () => {
    const stored = text.map((key) => key.replaceAll(/\p{Cc}/gu, ""));
    fc.assert(
      fc.property(fc.array(fc.tuple(stored, stored), { maxLength: 5 }), (pairs) => {
        const reader = new KeyReader(7n);
        for (const [partitionKey, rowKey] of pairs) {
          const key = entities.key({ table: 7n, partitionKey, rowKey });
          expect(reader.read(key)).toEqual({ partitionKey, rowKey });
        }
      }),
    );
  });

  it("are equal after formatting and parsing a continuation token and a path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (partitionKey, rowKey) => {
        expect(parseToken(formatToken(partitionKey))).toBe(partitionKey);
        const path = decodeURIComponent(entityPath("tab", { partitionKey, rowKey }));
        const keys = { partitionKey, rowKey };
        expect(identify(path, noQuery)).toMatchObject({ ok: true, value: { keys } });
      }),
    );
  });
});

describe("paths", () => {
  it.each([
    ["", "service"],
    ["$batch", "batch"],
    ["Tables", "tables"],
    ["Tables()", "tables"],
    ["Tables('abc')", "table"],
    ["abc", "entities"],
    ["abc()", "entities"],
    ["abc(RowKey='1',PartitionKey='2')", "entity"],
    ["abc/Tables", "entities"],
    ["abc/Tables('x')", "nested"],
  ])("%s names a %s", (path, resource) => {
    expect(identify(path, noQuery)).toMatchObject({ ok: true, value: { resource } });
  });

  it.each(["1bc", "ab", "a_c", "abc(RowKey='1')", "abc(PartitionKey='1',RowKey=2)", "Tables(x)"])(
    "%s names nothing",
    (path) => {
      expect(identify(path, noQuery)).toMatchObject({ ok: false, fault: {} });
    },
  );

  it("are parsed in linear time with any number of quotes", () => {
    for (const quotes of [40, 41, 20_000, 20_001]) {
      const path = `abc(${"'".repeat(quotes)}x/`;
      expect(identify(path, noQuery)).toMatchObject({ ok: false, fault: {} });
    }
  });

  it("are formatted independently of the path formatted before", () => {
    const own = fc.constantFrom("", "a", "b", "it's", "ä");
    fc.assert(
      fc.property(fc.array(fc.tuple(own, own, own), { maxLength: 8 }), (asked) => {
        for (const [table, partitionKey, rowKey] of asked) {
          const quoted = (key: string) => encodeURIComponent(key).replaceAll("'", "''");
          const keys = `PartitionKey='${quoted(partitionKey)}',RowKey='${quoted(rowKey)}'`;
          expect(entityPath(table, { partitionKey, rowKey })).toBe(`${table}(${keys})`);
        }
      }),
    );
  });
});

describe("DateTime values", () => {
  it.each([
    ["2022-05-06T00:34:41.8204980Z", "2022-05-06T00:34:41.820498Z"],
    ["2022-05-06T00:34:41", "2022-05-06T00:34:41Z"],
    ["2022-05-06T00:34:41.0000001Z", "2022-05-06T00:34:41.0000001Z"],
    ["2022-05-06T02:00:00+02:00", "2022-05-06T00:00:00Z"],
  ])("%s is written %s", (given, written) => {
    expect(formatDateTime(parseDateTime(given)!)).toBe(written);
  });

  it("are equal after formatting and parsing an ETag", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 3_155_378_975_999_999_999n }), (newETag) => {
        const tag = formatEntityETag(newETag);
        const header = (name: string) => (name === "if-match" ? tag : undefined);
        const read = readMatch({ header } as never);
        expect(read).toEqual({
          ok: true,
          value: { ifMatch: [`0x${newETag.toString(16).toUpperCase()}`] },
        });
      }),
    );
  });
});

describe("JSON of scalars", () => {
  it("accepts and rejects the same texts as JSON.parse", () => {
    const scalar = fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true }),
    );
    const finite = scalar.filter((value) => typeof value !== "number" || Number.isFinite(value));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), finite), (object) => {
        const members = parseFlatJson(JSON.stringify(object, undefined, 1));
        const back = members?.map(([name, value]) => {
          const isNumber = value !== null && typeof value === "object";
          return [name, isNumber ? Number(value.number) : value];
        });
        const zeroed = Object.entries(object).map(([name, value]) => [
          name,
          value === 0 ? 0 : value,
        ]);
        expect(back?.map(([name, value]) => [name, value === 0 ? 0 : value])).toEqual(zeroed);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (given) => {
        const ours = parseFlatJson(`{"a":"${given}"}`);
        let theirs: unknown;
        try {
          theirs = JSON.parse(`{"a":"${given}"}`);
        } catch {
          theirs = undefined;
        }
        expect(ours !== undefined).toBe(theirs !== undefined);
      }),
    );
  });

  it("reads names independently of the object parsed before", () => {
    const name = fc.constantFrom(
      "a",
      "ab",
      "",
      "a\\",
      '"',
      "\\",
      'a"',
      "a\u0001",
      "ä",
      "abcdefghijklmn",
    );
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 6 }), (objects) => {
        for (const own of objects) {
          const written = JSON.stringify(Object.fromEntries(own.map((each) => [each, true])));
          expect(parseFlatJson(written)?.map(([each]) => each)).toEqual(own);
        }
      }),
    );
  });

  it.each(["", "[]", "{", '{"a"}', '{"a":1,}', '{"a":01}', '{"a":[]}', '{"a":1}x', '{"a":.5}'])(
    "refuses %s",
    (given) => {
      expect(parseFlatJson(given)).toBeUndefined();
    },
  );

  it.each([
    [3, "3.0"],
    [0.5, "0.5"],
    [1e21, "1E+21"],
    [-1e-7, "-1E-7"],
  ])("writes the double %d as %s", (value, written) => {
    expect(doubleText(value)).toBe(written);
  });
});
