import { describe, expect, it } from "vitest";
import { metadataBytesMax, type Metadata } from "../../protocol/metadata.ts";
import { fetchedPropertiesOf, type SourceResponse } from "./source-reader.ts";

async function* nothing(): AsyncGenerator<Uint8Array> {}

const found = (headers: SourceResponse["headers"], metadata: Metadata = []) =>
  fetchedPropertiesOf({
    status: 200,
    reason: "",
    headers,
    metadata,
    body: nothing(),
    close: () => {},
  });

describe("the properties of a source", () => {
  it.each([
    [{ "content-length": "10" }, 10],
    [{ "content-length": "10", "content-range": "bytes 0-9/500" }, 500],
    [{ "content-length": "-1" }, undefined],
    [{ "content-length": "1e3" }, undefined],
    [{ "content-length": "99999999999999999999" }, undefined],
    [{ "content-range": "bytes 0-9/99999999999999999999" }, undefined],
    [{}, undefined],
  ])("%j has the length %s", (headers, length) => {
    expect(found(headers).length).toBe(length);
  });

  it("are kept only if they are valid here", () => {
    const long = "x".repeat(metadataBytesMax);
    const sent: Metadata = [
      ["Colour", "blue"],
      ["colour", "again"],
      ["no-name", "1"],
      ["", "2"],
      ["long", long],
      ["last", "3"],
    ];
    const kept = found({}, sent).metadata;
    expect(kept).toEqual([
      ["Colour", "blue"],
      ["last", "3"],
    ]);
  });
});
