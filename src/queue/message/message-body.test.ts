import { describe, expect, it } from "vitest";
import { newLoopShare } from "../../base/loop-share.ts";
import { parseXml } from "../../encoding/xml.ts";
import { realClock } from "../../host/world.ts";
import { putMessage, updateMessage } from "./messages.ts";

const loop = newLoopShare(realClock());
const textBytesMax = 64 * 1024;

async function bodyOf({ body }: typeof putMessage, xml: string) {
  if (body?.kind !== "xml") throw new Error("the body is no XML");
  const root = parseXml(xml);
  const read = await body.parse(root.ok ? root.value : undefined, loop);
  return read.ok ? (read.value ?? "no text") : read.fault.code;
}

const messageOf = (text: string): string =>
  `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;

describe.each([
  ["Put Message", putMessage],
  ["Update Message", updateMessage],
])("the body of %s", (_, operation) => {
  it.each([
    ["a message", messageOf("hello"), "hello"],
    ["an empty text", messageOf(""), ""],
    [
      "another element",
      "<Message><MessageText>hello</MessageText></Message>",
      "InvalidXmlDocument",
    ],
    ["no text", "<QueueMessage></QueueMessage>", "MissingRequiredXmlNode"],
  ])("may be %s, or is rejected", async (_case, xml, expected) => {
    expect(await bodyOf(operation, xml)).toBe(expected);
  });
  it("has at most 64 KiB of text, in bytes of UTF-8", async () => {
    const longest = "é".repeat(textBytesMax / 2);
    expect(await bodyOf(operation, messageOf(longest))).toBe(longest);
    expect(await bodyOf(operation, messageOf(`${longest}x`))).toBe("RequestBodyTooLarge");
  });
});

describe("without a body", () => {
  it("no message is put, and an update keeps the text", async () => {
    expect(await bodyOf(putMessage, "")).toBe("InvalidXmlDocument");
    expect(await bodyOf(updateMessage, "")).toBe("no text");
  });
});
