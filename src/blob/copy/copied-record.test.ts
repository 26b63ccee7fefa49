import { describe, expect, it } from "vitest";
import { remoteSourceProperties } from "./copied-record.ts";

const found = (headers: Readonly<Record<string, string>>) =>
  remoteSourceProperties({ header: (name) => headers[name], metadata: [], length: undefined });

describe("what a source elsewhere tells of itself", () => {
  it.each([
    ["12", 12],
    ["50000", 50_000],
    ["50001", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["many", undefined],
  ])("is %s blocks, taken for %s", (told, count) => {
    const { committedBlockCount } = found({ "x-ms-blob-committed-block-count": told });
    expect(committedBlockCount).toBe(count);
  });

  it.each([
    ["1B2M2Y8AsgTpgAmY7PhCfg==", 16],
    ["AAAA", undefined],
    ["no base64", undefined],
  ])("is the MD5 %s, of which %s bytes are kept", (told, length) => {
    expect(found({ "content-md5": told }).headers.contentMd5?.length).toBe(length);
  });
});
