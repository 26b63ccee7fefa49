import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isXmlText } from "./xml-entities.ts";
import {
  byteOrderMark,
  element,
  escapeText,
  nameElement,
  textElement,
  xmlDeclaration,
} from "./xml-writer.ts";
import { parseXml, xmlChild, xmlChildText } from "./xml.ts";
import type { XmlElement } from "./xml.ts";

interface Tree {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly Tree[];
}

function written({ name, attributes, text, children }: Tree): string {
  return element(name, escapeText(text) + children.map(written).join(""), attributes);
}

function plain({ name, attributes, text, children }: XmlElement): Tree {
  return { name, attributes, text, children: children.map(plain) };
}

function root(body: Uint8Array | string): XmlElement {
  const parsed = parseXml(body);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.fault));
  return parsed.value;
}

/** Line and position that the fault reports. */
function faultPosition(body: Uint8Array | string): string {
  const parsed = parseXml(body);
  if (parsed.ok) return "none";
  const elements = parsed.fault.detail?.elements ?? {};
  return `${elements["LineNumber"]}:${elements["LinePosition"]}`;
}

const xmlText = fc.string({ unit: "binary" }).filter(isXmlText);
const xmlName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: xmlName,
    attributes: fc.dictionary(
      xmlName.filter((name) => name !== "xmlns"),
      xmlText,
      { maxKeys: 3, noNullPrototype: true },
    ),
    text: xmlText,
    children: fc.oneof(
      { depthSize: "small" },
      fc.constant([]),
      fc.array(tie("tree"), { maxLength: 3 }),
    ),
  }),
}));

describe("roundtrip", () => {
  test("parses a written document to the same tree", () => {
    fc.assert(
      fc.property(tree, (document) => {
        const text = xmlDeclaration + written(document);
        expect(plain(root(text))).toEqual(document);
        expect(plain(root(Buffer.from(byteOrderMark + text)))).toEqual(document);
      }),
    );
  });

  test("rejects a document that is cut off at any offset", () => {
    fc.assert(
      fc.property(tree, fc.nat(), (document, seed) => {
        const text = written(document);
        const shortened = text.slice(0, seed % text.length);
        expect(parseXml(shortened).ok).toBe(false);
      }),
    );
  });

  test("never throws, for any text", () => {
    const piece = fc.constantFrom(
      "<",
      ">",
      "a",
      "/",
      "&",
      ";",
      "#",
      "x",
      '"',
      "=",
      " ",
      "!",
      "-",
      "?",
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        parseXml(pieces.join(""));
        parseXml(`<a>${pieces.join("")}</a>`);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ["<a/>", ""],
  ["<a></a >", ""],
  ["<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;</a>", "<>&\"'AB\u{1F600}"],
  ["<a><![CDATA[<b>&amp;]]]]></a>", "<b>&amp;]]"],
  ["<a>x<!-- comment -->y<?target data?>z</a>", "xyz"],
  ["<a>1\r\n2\r3&#xD;4\r\n5</a>", "1\n2\n3\r4\n5"],
  ['<?xml version="1.0"?>\n<!-- c -->\n<a>x</a>\n<!-- d -->\n', "x"],
  ['<p:a xmlns:p="urn:x" xmlns="urn:y">x</p:a>', "x"],
  ["<a> spaces </a>", " spaces "],
])("%j", (text, expected) => {
  const parsed = root(text);
  expect([parsed.name, parsed.text, parsed.attributes]).toEqual(["a", expected, {}]);
});

test("attributes lose their prefix and keep their value", () => {
  const parsed = root('<a x=\'1\' p:y = "a&amp;b"\n z=""/>');
  expect(parsed.attributes).toEqual({ x: "1", y: "a&b", z: "" });
});

test("children are found by name, in order", () => {
  const parsed = root("<a><b>1</b> <c/><b>2</b></a>");
  expect(parsed.children.map(({ name, text }) => name + text)).toEqual(["b1", "c", "b2"]);
  expect(xmlChildText(parsed, "b")).toBe("1");
  expect(xmlChildText(parsed, "c")).toBe("");
  expect(xmlChildText(parsed, "d")).toBeUndefined();
});

describe("malformed", () => {
  const deep = "<a>".repeat(100);
  test.each([
    ["", "1:1"],
    ["   ", "1:4"],
    ["text", "1:1"],
    ["<a>", "1:4"],
    ["<a", "1:3"],
    ["</a>", "1:1"],
    ["<a></b>", "1:6"],
    ["<a></ab>", "1:6"],
    ["<a><b></a></b>", "1:9"],
    ["<a/><b/>", "1:5"],
    ["<a/>x", "1:5"],
    ["<1a/>", "1:2"],
    ["< a/>", "1:2"],
    ["<a b/>", "1:4"],
    ["<a b=c/>", "1:4"],
    ["<a b='<'/>", "1:4"],
    ["<a b='1' b='2'/>", "1:9"],
    ["<a b='1'c='2'/>", "1:9"],
    ["<a>&nbsp;</a>", "1:4"],
    ["<a>&lt</a>", "1:4"],
    ["<a>&#0;</a>", "1:4"],
    ["<a>&#x110000;</a>", "1:4"],
    ["<a>&__proto__;</a>", "1:4"],
    ["<a>]]></a>", "1:4"],
    ["<a><!-- -- --></a>", "1:4"],
    ["<!DOCTYPE a><a/>", "1:1"],
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "1:1"],
    [' <?xml version="1.0"?><a/>', "1:2"],
    ["<a>\n<b>\n</a>", "3:3"],
    ["<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage><MessageText>\u0001</M", "2:28"],
    ["<a>\uD800</a>", "1:4"],
    [deep, "1:193"],
    [Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]), "1:1"],
  ])("%j is refused at %s", (body, expected) => {
    expect(faultPosition(body)).toBe(expected);
  });
});

test("elements have the positions that the service reports for retention days", () => {
  const days =
    "<?xml version='1.0' encoding='utf-8'?>\n<StorageServiceProperties><DeleteRetentionPolicy>" +
    "<Enabled>true</Enabled><Days>0</Days></DeleteRetentionPolicy></StorageServiceProperties>";
  const policy = xmlChild(root(days), "DeleteRetentionPolicy");
  expect(policy?.start).toEqual({ line: 2, position: 28 });
  expect(policy?.end).toEqual({ line: 2, position: 89 });
});

describe("writer", () => {
  test("omits undefined values and uses the short form for empty ones", () => {
    expect(textElement("a", undefined)).toBe("");
    expect(textElement("a", "")).toBe("<a />");
    expect(textElement("a", 5)).toBe("<a>5</a>");
    expect(element("a", "", { b: 'x"<' })).toBe('<a b="x&quot;&lt;" />');
  });

  test("encodes names that XML cannot carry", () => {
    expect(nameElement("Name", "a/b&c")).toBe("<Name>a/b&amp;c</Name>");
    expect(nameElement("Name", "dir1/dir2/file\uFFFF.blob")).toBe(
      '<Name Encoded="true">dir1%2Fdir2%2Ffile%EF%BF%BF.blob</Name>',
    );
    expect(nameElement("Name", "\uD800")).toBe('<Name Encoded="true">%EF%BF%BD</Name>');
  });
});
