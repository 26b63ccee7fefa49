import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkTags,
  matchesTags,
  parseTagPredicate,
  parseTagSearch,
  parseTagsHeader,
} from "./tags.ts";

const tags = { tag1: "firsttag", "tag1 name": "my tag", tag2: "secondtag", quote: "it's" };

describe("predicates", () => {
  test.each([
    ["\"tag1 name\"='my tag' AND \"tag2\"='secondtag'", true],
    ["tag1 = 'firsttag'", true],
    ["tag1='other'", false],
    ["tag1 <> 'other'", true],
    ["absent <> 'other'", false],
    ["absent = ''", false],
    ["tag1 > 'a'", true],
    ["tag1 >= 'firsttag' and tag1 <= 'firsttag'", true],
    ["tag1 < 'A'", false],
    ["quote = 'it''s'", true],
    ["tag1 = 'x' OR tag2 = 'secondtag' AND tag1 = 'firsttag'", true],
    ["(tag1 = 'x' OR tag2 = 'secondtag') AND tag1 = 'x'", false],
    ["((tag1 = 'firsttag'))", true],
    ["Tag1 = 'firsttag'", false],
    ["__proto__ <> 'x'", false],
  ])("%s is %s", (text, expected) => {
    const predicate = parseTagPredicate(text);
    expect(predicate).toBeDefined();
    expect(predicate && matchesTags(predicate, tags)).toBe(expected);
  });

  test.each([
    "",
    "tag1",
    "tag1 =",
    "tag1 = value",
    "'tag1' = 'value'",
    "tag1 = 'value",
    "tag1 == 'value'",
    "tag1 != 'value'",
    "(tag1 = 'value'",
    "tag1 = 'value')",
    "tag1 = 'value' AND",
    "tag1 = 'value' tag2 = 'value'",
    "@container = 'c'",
    "1tag = 'value'",
    "tag name = 'value'",
    Array.from({ length: 12 }, () => "t = 'v'").join(" AND "),
  ])("%j is refused", (text) => {
    expect(parseTagPredicate(text)).toBeUndefined();
  });

  test("ten logical operators are allowed", () => {
    const text = Array.from({ length: 11 }, () => "t = 'v'").join(" OR ");
    expect(parseTagPredicate(text)).toBeDefined();
  });

  test("any name and value can be quoted", () => {
    const word = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(word, word, (name, value) => {
        const quotedName = name.replaceAll('"', '""');
        const text = `"${quotedName}" = '${value.replaceAll("'", "''")}'`;
        const predicate = parseTagPredicate(text);
        expect(predicate).toEqual({ kind: "compare", name, operator: "=", value });
        const held = Object.fromEntries([[name, value]]);
        expect(predicate && matchesTags(predicate, held)).toBe(true);
      }),
    );
  });

  test("no text throws", () => {
    const piece = fc.constantFrom(
      "a",
      "'v'",
      '"n"',
      "=",
      "<>",
      "(",
      ")",
      " AND ",
      " or ",
      "@",
      "'",
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const predicate = parseTagPredicate(pieces.join(""));
        if (predicate !== undefined) matchesTags(predicate, tags);
      }),
    );
  });
});

const anywhere = { takesContainer: true };

describe("searches", () => {
  test("accept terms and a container", () => {
    const parsed = parseTagSearch("@container='c' and \"a b\" >= '1' AND x < '9'", anywhere);
    expect(parsed).toEqual({
      ok: true,
      value: {
        container: "c",
        terms: [
          { kind: "compare", name: "a b", operator: ">=", value: "1" },
          { kind: "compare", name: "x", operator: "<", value: "9" },
        ],
      },
    });
  });

  const terms = (count: number) =>
    Array.from({ length: count }, (_, index) => `t${index} = 'v'`).join(" AND ");

  test.each([terms(10), `${terms(10)} AND @container = 'c'`, "a > '1' AND a < '2'", "a = ''"])(
    "%j is taken",
    (text) => {
      expect(parseTagSearch(text, anywhere)).toMatchObject({ ok: true });
    },
  );

  const at = (position: number) => `Error parsing query at or near character position ${position}`;

  test.each([
    [" ", `${at(1)}: unexpected end of query`],
    ["a", `${at(2)}: unexpected end of query`],
    ["a <> 'b'", `${at(3)}: unexpected '<>'`],
    ["a = 'b' OR c = 'd'", `${at(9)}: unexpected 'or'`],
    ["(a = 'b')", `${at(1)}: unexpected '('`],
    ["a = 'b' AND", `${at(12)}: unexpected end of query`],
    ["a-1 = 'b'", `${at(2)}: unexpected '-'`],
    ["'a' = 'b'", `${at(1)}: unexpected 'a'`],
    ["@container > 'c'", `${at(12)}: unexpected '>'`],
    ["@container = 'c' AND @container = 'c'", `${at(22)}: unexpected '@container'`],
    ["a = 'b' AND @other = 'c'", `${at(13)}: unsupported parameter '@other'`],
    ["\"a!\" = 'b'", `${at(1)}: '!' not permitted in tag name or value`],
    ["a = 'b@'", `${at(5)}: '@' not permitted in tag name or value`],
    [`${"x".repeat(129)} = 'b'`, `${at(1)}: tag must be between 1 and 128 characters in length`],
    [
      `a = '${"x".repeat(257)}'`,
      `${at(5)}: tag value must be between 0 and 256 characters in length`,
    ],
    [terms(11), "Error parsing query: there can be at most 10 unique tags in a query"],
    ["a".repeat(5000), "Error parsing query: the query is too long"],
  ])("%j is refused", (text, message) => {
    const elements = { QueryParameterName: "where", QueryParameterValue: text };
    const fault = { code: "InvalidQueryParameterValue", detail: { message, elements } };
    expect(parseTagSearch(text, anywhere)).toEqual({ ok: false, fault });
  });

  test("inside a container reject @container", () => {
    expect(parseTagSearch("@container = 'c'", { takesContainer: false })).toMatchObject({
      fault: { detail: { message: `${at(1)}: unsupported parameter '@container'` } },
    });
  });
});

describe("tag sets", () => {
  const long = "x".repeat(129);
  test.each([
    ["", {}],
    ["a=b", { a: "b" }],
    ["a%20b=c%3D1&d=", { "a b": "c=1", d: "" }],
    ["a+b=c", { "a b": "c" }],
    ["=b", "EmptyTagName"],
    ["a=b&a=c", "DuplicateTagNames"],
    ["a=%21", "InvalidTags"],
    ["a=%E", "InvalidHeaderValue"],
    [`${long}=b`, "TagsTooLarge"],
    [`a=${long}${long}`, "TagsTooLarge"],
    [Array.from({ length: 11 }, (_, index) => `t${index}=v`).join("&"), "TagsTooLarge"],
  ])("%j", (text, expected) => {
    const parsed = parseTagsHeader(text);
    expect(parsed.ok ? parsed.value : parsed.fault.code).toEqual(expected);
  });

  test("a tag may have the name of an object property", () => {
    const checked = checkTags([["__proto__", "x"]]);
    expect(checked.ok && Object.hasOwn(checked.value, "__proto__")).toBe(true);
  });
});
