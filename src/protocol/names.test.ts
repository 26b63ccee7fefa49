import { describe, expect, test } from "vitest";
import { parseFilePath } from "./file-names.ts";
import { faultMessage } from "./faults.ts";
import { checkBlobName, checkContainerName, checkResourceName, checkTableName } from "./names.ts";
import type { Result } from "./result.ts";

const code = (result: Result<unknown>): string => (result.ok ? "ok" : result.fault.code);

describe("containers, queues, shares", () => {
  test.each([
    ["abc", "ok"],
    ["a-b-c", "ok"],
    ["123", "ok"],
    ["a".repeat(63), "ok"],
    ["a".repeat(64), "OutOfRangeInput"],
    ["ab", "OutOfRangeInput"],
    ["", "OutOfRangeInput"],
    ["Abc", "InvalidResourceName"],
    ["a--b", "InvalidResourceName"],
    ["-ab", "InvalidResourceName"],
    ["ab-", "InvalidResourceName"],
    ["a_b", "InvalidResourceName"],
    ["abc\n", "InvalidResourceName"],
    ["$rooted", "InvalidResourceName"],
    ["啊齄丂狛狜", "InvalidResourceName"],
  ])("%j", (name, expected) => {
    expect(code(checkContainerName(name))).toBe(expected);
    expect(code(checkResourceName(name))).toBe(expected);
  });

  test("only containers have system names", () => {
    for (const name of ["$root", "$logs", "$web", "$blobchangefeed"]) {
      expect(code(checkContainerName(name))).toBe("ok");
      expect(code(checkResourceName(name))).toBe("InvalidResourceName");
    }
  });

  test("a wrong length has its own text", () => {
    const refused = checkContainerName("ab");
    expect(refused.ok ? "" : faultMessage(refused.fault)).toBe(
      "The specified resource name length is not within the permissible limits.",
    );
  });
});

test.each([
  ["Table1", "ok"],
  ["aa", "OutOfRangeInput"],
  ["a".repeat(64), "OutOfRangeInput"],
  ["1table", "InvalidResourceName"],
  ["my_table", "InvalidResourceName"],
  ["a//", "InvalidResourceName"],
  ["Tables", "InvalidResourceName"],
])("table %j", (name, expected) => {
  expect(code(checkTableName(name))).toBe(expected);
});

test.each([
  ["a", "ok"],
  ["dir/ä b?.txt", "ok"],
  ["\u{1F600}".repeat(512), "ok"],
  [`${"\u{1F600}".repeat(512)}a`, "OutOfRangeInput"],
  ["", "OutOfRangeInput"],
  ["a/".repeat(253) + "a", "ok"],
  ["a/".repeat(254) + "a", "InvalidUri"],
])("blob %j", (name, expected) => {
  expect(code(checkBlobName(name))).toBe(expected);
});

describe("file paths", () => {
  const parsed = (path: string, keepsTrailingDots = false): unknown => {
    const result = parseFilePath(path, { keepsTrailingDots });
    return result.ok ? result.value : result.fault.code;
  };
  test.each([
    ["", []],
    ["dir/file", ["dir", "file"]],
    ["/dir//file/", ["dir", "file"]],
    ["dir./file...", ["dir", "file"]],
    ["a.b", ["a.b"]],
    ["...", "InvalidResourceName"],
    [".", "InvalidResourceName"],
    ["a/../b", "InvalidResourceName"],
    ["a:b", "InvalidResourceName"],
    ["a*", "InvalidResourceName"],
    ["a\u0001", "InvalidResourceName"],
    ["con", "InvalidResourceName"],
    ["LPT1", "InvalidResourceName"],
    ["LPT10", ["LPT10"]],
    ["directory\uFFFE/file\uFFFF", ["directory\uFFFE", "file\uFFFF"]],
    ["x".repeat(255), ["x".repeat(255)]],
    ["x".repeat(256), "InvalidFileOrDirectoryPathName"],
    ["x/".repeat(251), "InvalidFileOrDirectoryPathName"],
    ["x".repeat(2049), "InvalidFileOrDirectoryPathName"],
  ])("%j", (path, expected) => {
    expect(parsed(path)).toEqual(expected);
  });

  test("trailing dots are kept on request", () => {
    expect(parsed("dir1./file.", true)).toEqual(["dir1.", "file."]);
  });
});
