import { describe, expect, it } from "vitest";
import { remoteSourceProperties } from "./copied-blob.ts";

const found = (headers: Readonly<Record<string, string>>) =>
  remoteSourceProperties({ header: (name) => headers[name], metadata: [], length: undefined });

describe("properties of a remote source", () => {
  it.each([
    ["12", 12],
    ["50000", 50_000],
    ["50001", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["many", undefined],
  ])("x-ms-blob-committed-block-count %s gives %s", (value, count) => {
    const { committedBlockCount } = found({ "x-ms-blob-committed-block-count": value });
    expect(committedBlockCount).toBe(count);
  });

  it.each([
    ["1B2M2Y8AsgTpgAmY7PhCfg==", 16],
    ["AAAA", undefined],
    ["no base64", undefined],
  ])("Content-MD5 %s gives %s bytes", (value, length) => {
    expect(found({ "content-md5": value }).headers.contentMd5?.length).toBe(length);
  });
});
