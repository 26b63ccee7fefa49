import { describe, expect, it } from "vitest";
import { hexText } from "./hex-text.ts";
import { previewKind } from "./kind.ts";

describe("a binary content", () => {
  it("is shown as offsets, bytes and letters", () => {
    const bytes = Uint8Array.from([0, 255, ...new TextEncoder().encode("Etagere, 16 bytes")]);
    expect(hexText(bytes)).toBe(
      "00000000  00 ff 45 74 61 67 65 72 65 2c 20 31 36 20 62 79  ..Etagere, 16 by\n" +
        "00000010  74 65 73                                         tes",
    );
    expect(hexText(new Uint8Array())).toBe("");
  });
});

describe("the kind of a preview", () => {
  it.each([
    ["image/png", "x", "image"],
    ["application/json", "x", "text"],
    ["application/octet-stream", "notes.md", "text"],
    ["application/octet-stream", "photo.JPG", "image"],
    ["", "film.mp4", "video"],
    ["application/octet-stream", "data.bin", "hex"],
  ])("of %s, %s is %s", (type, name, kind) => {
    expect(previewKind(type, { name, length: 10 })).toBe(kind);
  });
});
