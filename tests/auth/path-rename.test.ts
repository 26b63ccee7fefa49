import { beforeEach, describe, expect, it } from "vitest";

import { developmentAccountName } from "../../src/account/settings.ts";
import { isPathRequest } from "../../src/blob/service.ts";
import {
  accountToken,
  byKey,
  directoryToken,
  filesystemToken,
  fileToken,
  lakeWorld,
  otherName,
} from "./lake-world.ts";
import type { LakeWorld } from "./lake-world.ts";

let lake: LakeWorld;

beforeEach(async () => {
  lake = await lakeWorld();
});

function listed(account = developmentAccountName): Promise<readonly string[]> {
  return lake.listed(account);
}

interface Rename {
  readonly to?: string;
  readonly from?: string;
  /** Of the request, and of the source. */
  readonly token?: string;
  readonly sourceToken?: string;
  readonly mode?: "legacy" | "posix";
}

function rename(attempt: Rename) {
  const { to = "/aaa/to/new", from = "/aaa/from/file", token, sourceToken } = attempt;
  const source = sourceToken === undefined ? from : `${from}?${sourceToken}`;
  const query = token === undefined ? "" : `&${token}`;
  const request = {
    method: "PUT",
    path: `${to}?mode=${attempt.mode ?? "legacy"}${query}`,
    headers: { "x-ms-rename-source": source },
  };
  return token === undefined ? lake.call(request) : lake.sendAs(request);
}

describe("a signature for a rename", () => {
  const mismatch = "AuthorizationPermissionMismatch";
  const failure = "AuthorizationFailure";
  const old = { to: "/aaa/to/old" };
  it.each<[string, Rename, string | undefined]>([
    ["the account, for both", { token: accountToken("rwdlac") }, undefined],
    ["the filesystem, for both", { token: filesystemToken("aaa", "rwd") }, undefined],
    ["the filesystem, to move only", { token: filesystemToken("aaa", "m") }, undefined],
    [
      "the filesystem, with the account before the source",
      { from: `/${developmentAccountName}/aaa/from/file`, token: filesystemToken("aaa", "rwd") },
      undefined,
    ],
    [
      "another filesystem, with the account before the source",
      { from: `/${developmentAccountName}/bbb/from/file`, token: filesystemToken("aaa", "rwd") },
      failure,
    ],
    ["without deleting", { token: filesystemToken("aaa", "racwl") }, mismatch],
    ["the account, without deleting", { token: accountToken("rwlac") }, mismatch],
    ["without writing", { token: filesystemToken("aaa", "rdl") }, mismatch],
    ["to create and delete, at a free path", { token: filesystemToken("aaa", "cd") }, undefined],
    [
      "to create and delete, over a file",
      { token: filesystemToken("aaa", "cd"), ...old },
      "UnauthorizedBlobOverwrite",
    ],
    ["to write, over a file", { token: filesystemToken("aaa", "wd"), ...old }, undefined],
    [
      "a source in another filesystem",
      { token: filesystemToken("aaa", "racwdlm"), from: "/bbb/from/file" },
      failure,
    ],
    [
      "a source with a signature of its own",
      {
        token: filesystemToken("aaa", "cw"),
        from: "/bbb/from/file",
        sourceToken: filesystemToken("bbb", "d"),
      },
      undefined,
    ],
    [
      "a source whose signature only reads",
      { token: filesystemToken("aaa", "cwd"), sourceToken: filesystemToken("aaa", "r") },
      mismatch,
    ],
    [
      "a source whose signature only writes",
      { token: filesystemToken("aaa", "cwd"), sourceToken: fileToken("aaa", "from/file", "rcw") },
      mismatch,
    ],
    [
      "a source whose signature is for another file",
      { token: filesystemToken("aaa", "cwd"), sourceToken: fileToken("aaa", "to/old", "rcwd") },
      "AuthenticationFailed",
    ],
    ["the new file alone", { token: fileToken("aaa", "to/new", "rcwd") }, failure],
    ["the directory of the new file", { token: directoryToken("aaa", "to", "rcwdm") }, failure],
    [
      "the directories of both",
      {
        token: directoryToken("aaa", "to", "cw"),
        sourceToken: directoryToken("aaa", "from", "d"),
      },
      undefined,
    ],
    [
      "the directory of the source, for the new file",
      { token: directoryToken("aaa", "from", "rcwdm") },
      "AuthenticationFailed",
    ],
  ])("%s", async (_title, attempt, code) => {
    const before = await listed();
    const answer = await rename(attempt);
    expect([answer.status < 300, answer.code]).toEqual([code === undefined, code]);
    const after = await listed();
    if (code === undefined) expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
  });
});

describe("a rename into a directory, in the mode posix", () => {
  const into = { to: "/aaa/to", mode: "posix" } as const;
  const sourceToken = fileToken("aaa", "from/file", "d");
  it.each<[string, string, string | undefined]>([
    ["the blob path of the directory", fileToken("aaa", "to", "rcwdm"), "AuthorizationFailure"],
    ["the directory", directoryToken("aaa", "to", "rcwdm"), undefined],
    ["the filesystem", filesystemToken("aaa", "rcwdm"), undefined],
    ["the account", accountToken("rwdc"), undefined],
  ])("with a SAS for %s", async (_title, token, code) => {
    const answer = await rename({ ...into, token, sourceToken });
    expect(answer.code).toBe(code);
    expect((await listed()).includes("aaa/to/file")).toBe(code === undefined);
    expect((await listed()).includes("aaa/from/file")).toBe(code !== undefined);
  });

  it("needs only the path itself if there is no directory", async () => {
    const token = fileToken("aaa", "to/new", "cw");
    const answer = await rename({ to: "/aaa/to/new", mode: "posix", token, sourceToken });
    expect(answer.code).toBe(undefined);
    expect(await listed()).toContain("aaa/to/new");
  });
});

describe("a deleted path", () => {
  async function deleteSecret(): Promise<string> {
    const policy = "<Enabled>true</Enabled><Days>7</Days>";
    const inner = `<DeleteRetentionPolicy>${policy}</DeleteRetentionPolicy>`;
    await lake.sendToBlob({
      method: "PUT",
      path: "/?restype=service&comp=properties",
      headers: { authorization: byKey },
      body: `<StorageServiceProperties>${inner}</StorageServiceProperties>`,
    });
    const { headers } = await lake.must({ method: "DELETE", path: "/aaa/from/file" });
    return headers["x-ms-deletion-id"] ?? "";
  }

  it.each<[string, string, string | undefined]>([
    ["the new path alone", fileToken("aaa", "to/new", "rcwd"), "AuthorizationFailure"],
    ["the new directory", directoryToken("aaa", "to", "rcwd"), "AuthorizationFailure"],
    ["the filesystem", filesystemToken("aaa", "rcwd"), undefined],
    ["the filesystem, to read", filesystemToken("aaa", "r"), "AuthorizationPermissionMismatch"],
  ])("is restored elsewhere with a SAS for %s", async (_title, token, code) => {
    const id = await deleteSecret();
    const answer = await lake.sendToBlob({
      method: "PUT",
      path: `/aaa/to/new?comp=undelete&${token}`,
      headers: { "x-ms-undelete-source": `from/file?deletionid=${id}` },
    });
    expect(answer.code).toBe(code);
    expect((await listed()).includes("aaa/to/new")).toBe(code === undefined);
  });
});

describe("the source of a rename", () => {
  const other = `/${otherName}/aaa/from/file`;
  const climbing = ["/..", "/%2e%2e", "/.%2E", "/aaa/../..", "/\\..\\..", "/./.."];
  it.each<[string, string]>([
    ...climbing.map((up): [string, string] => [`${up}${other}`, "InvalidSourceUri"]),
    [`..\\${otherName}\\aaa\\from\\file`, "InvalidSourceUri"],
    [`http://127.0.0.1${other}`, "InvalidSourceUri"],
    [`//127.0.0.1${other}`, "InvalidSourceUri"],
    [other, "SourcePathNotFound"],
    [`/${developmentAccountName}/aaa/from/none`, "SourcePathNotFound"],
    ["/aaa/from/file?snapshot=2026-01-01T00:00:00.0000000Z", "InvalidSourceUri"],
    ["/aaa/from/file?versionid=2026-01-01T00:00:00.0000000Z", "InvalidSourceUri"],
    ["/A_B/from/file", "InvalidSourceUri"],
    ["/", "InvalidSourceUri"],
    ["/aaa/from/file%", "InvalidSourceUri"],
    [`/aaa/from/${"x".repeat(5000)}`, "InvalidSourceUri"],
    ["/aaa", "InvalidRenameSourcePath"],
  ])("%s is refused: %s", async (from, code) => {
    const before = [await listed(), await listed(otherName)];
    const answer = await rename({ from });
    expect([answer.status < 400, answer.code]).toEqual([false, code]);
    expect([await listed(), await listed(otherName)]).toEqual(before);
  });
});

describe("a target of the Data Lake API", () => {
  it("that names a snapshot or version is one of the Blob API", () => {
    for (const name of ["snapshot", "versionid"]) {
      const request = { method: "DELETE", target: `/a/c/b?${name}=2026`, headers: {} };
      expect(isPathRequest(request, "dfs")).toBe(false);
    }
  });
});

describe("a caller with a bearer token", () => {
  type Modes = Readonly<Record<string, string>>;
  const open = { "": "rwxrwxrwx", from: "rwxrwxrwx", to: "rwxrwxrwx" };
  const denied = "AuthorizationPermissionMismatch";

  it.each<[string, Modes, Rename, string | undefined]>([
    ["with all bits", open, {}, undefined],
    ["with bits of both parents alone", { ...open, "": "rwxr-x--x" }, {}, undefined],
    ["without writing to the source's parent", { ...open, from: "rwxrwxr-x" }, {}, denied],
    ["without entering the source's parent", { ...open, from: "rwxrwxrw-" }, {}, denied],
    ["without writing to the new parent", { ...open, to: "rwxrwxr-x" }, {}, denied],
    ["without entering the new parent", { ...open, to: "rwxrwxrw-" }, {}, denied],
    ["without entering the root", { ...open, "": "rwxrwxrw-" }, {}, denied],
    ["from a sticky parent", { ...open, from: "rwxrwxrwt" }, {}, denied],
    ["to a sticky parent", { ...open, to: "rwxrwxrwt" }, {}, undefined],
    [
      "over another owner's file in a sticky parent",
      { ...open, to: "rwxrwxrwt" },
      { to: "/aaa/to/old" },
      denied,
    ],
    ["over another owner's file", open, { to: "/aaa/to/old" }, undefined],
    [
      "of a directory, without writing to its parent",
      { ...open, "": "rwxrwxr-x" },
      { from: "/aaa/from" },
      denied,
    ],
    [
      "of a directory, without bits of it",
      { ...open, from: "---------" },
      { from: "/aaa/from" },
      undefined,
    ],
  ])("%s", async (_title, modes, attempt, code) => {
    for (const [path, mode] of Object.entries(modes)) {
      const at = `/aaa/${path}?action=setAccessControl`;
      await lake.must({ method: "PATCH", path: at, headers: { "x-ms-permissions": mode } });
    }
    const before = await listed();
    const { to = "/aaa/to/new", from = "/aaa/from/file" } = attempt;
    const headers = { "x-ms-rename-source": from };
    const answer = await lake.call({ method: "PUT", path: `${to}?mode=legacy`, headers }, "as me");
    expect([answer.status < 300, answer.code]).toEqual([code === undefined, code]);
    if (code !== undefined) expect(await listed()).toEqual(before);
  });
});
