import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  DataLakeSASPermissions,
  DirectorySASPermissions,
  FileSystemSASPermissions,
  generateAccountSASQueryParameters,
  generateDataLakeSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import { beforeEach, describe, expect, it } from "vitest";
import {
  accountDefaults,
  developmentAccountKey,
  developmentAccountName,
} from "../../src/account/settings.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { isPathRequest } from "../../src/blob/dfs/which-api.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { AuthOptions, AuthRequest } from "../../src/http/auth/request.ts";
import type { AccountKeys } from "../../src/account/settings.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { ok, type Result } from "../../src/protocol/result.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simService, type SimService } from "../harness/sim-service.ts";

/** Represents a signature with the account key, and the token of a caller. */
const byKey = "by the account key";
const callers: Readonly<Record<string, Principal>> = {
  [byKey]: keyPrincipal,
  "as me": { kind: "bearer", objectId: "me", tenantId: "t" },
};

class NamedAuthenticator extends Authenticator {
  override authenticate(
    request: AuthRequest,
    keys: AccountKeys,
    options: AuthOptions,
  ): Result<Principal> {
    const known = callers[request.header("authorization") ?? ""];
    return known === undefined ? super.authenticate(request, keys, options) : ok(known);
  }
}

const otherName = "otheraccount";
const settings = { ...accountDefaults, hierarchicalNamespace: true };
const otherAccount = { ...settings, name: otherName, keys: [developmentAccountKey] as const };

let sim: SimService;

async function call(request: RawCall, authorization = byKey) {
  const headers = { authorization, ...request.headers };
  return sim.sendAs({ ...request, headers });
}

async function must(request: RawCall): Promise<void> {
  const { status, body } = await call(request);
  if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${body}`);
}

beforeEach(async () => {
  sim = await simService(dfsService, {
    account: { hierarchicalNamespace: true },
    otherAccounts: [otherAccount],
    authenticator: new NamedAuthenticator(),
  });
  for (const account of [developmentAccountName, otherName]) {
    for (const name of ["aaa", "bbb"]) {
      await must({ method: "PUT", path: `/${name}?resource=filesystem`, account });
      for (const file of ["from/file", "to/old"]) {
        await must({ method: "PUT", path: `/${name}/${file}?resource=file`, account });
      }
    }
  }
});

async function listed(account: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const container of ["aaa", "bbb"]) {
    const path = `/${container}?resource=filesystem&recursive=true`;
    const { body } = await call({ method: "GET", path, account });
    const { paths } = JSON.parse(body) as { paths: { name: string }[] };
    names.push(...paths.map(({ name }) => `${container}/${name}`));
  }
  return names;
}

const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
const times = { startsOn: new Date("2020-01-01"), expiresOn: new Date("2099-01-01") };

function accountToken(sp: string): string {
  const values = {
    ...times,
    permissions: AccountSASPermissions.parse(sp),
    services: AccountSASServices.parse("b").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
  };
  return generateAccountSASQueryParameters(values, credential).toString();
}

function filesystemToken(fileSystemName: string, sp: string): string {
  const permissions = FileSystemSASPermissions.parse(sp);
  const values = { ...times, permissions, fileSystemName };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}

function fileToken(fileSystemName: string, pathName: string, sp: string): string {
  const permissions = DataLakeSASPermissions.parse(sp);
  const values = { ...times, permissions, fileSystemName, pathName };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}

function directoryToken(fileSystemName: string, pathName: string, sp: string): string {
  const permissions = DirectorySASPermissions.parse(sp);
  const depth = pathName.split("/").length;
  const directory = { pathName, isDirectory: true, directoryDepth: depth };
  const values = { ...times, permissions, fileSystemName, ...directory };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}

interface Rename {
  readonly to?: string;
  readonly from?: string;
  /** Of the request, and of the source. */
  readonly token?: string;
  readonly sourceToken?: string;
}

function rename({ to = "/aaa/to/new", from = "/aaa/from/file", token, sourceToken }: Rename) {
  const source = sourceToken === undefined ? from : `${from}?${sourceToken}`;
  const query = token === undefined ? "" : `&${token}`;
  const request = {
    method: "PUT",
    path: `${to}?mode=legacy${query}`,
    headers: { "x-ms-rename-source": source },
  };
  return token === undefined ? call(request) : sim.sendAs(request);
}

describe("a signature for a rename", () => {
  const mismatch = "AuthorizationPermissionMismatch";
  const failure = "AuthorizationFailure";
  const old = { to: "/aaa/to/old" };
  it.each<[string, Rename, string | undefined]>([
    ["the account, for both", { token: accountToken("rwdlac") }, undefined],
    ["the filesystem, for both", { token: filesystemToken("aaa", "rwd") }, undefined],
    ["the filesystem, to move only", { token: filesystemToken("aaa", "m") }, undefined],
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
    const before = await listed(developmentAccountName);
    const answer = await rename(attempt);
    expect([answer.status < 300, answer.code]).toEqual([code === undefined, code]);
    const after = await listed(developmentAccountName);
    if (code === undefined) expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
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
    [`/${developmentAccountName}/aaa/from/file`, "SourcePathNotFound"],
    ["/aaa/from/file?snapshot=2026-01-01T00:00:00.0000000Z", "InvalidSourceUri"],
    ["/aaa/from/file?versionid=2026-01-01T00:00:00.0000000Z", "InvalidSourceUri"],
    ["/A_B/from/file", "InvalidSourceUri"],
    ["/", "InvalidSourceUri"],
    ["/aaa/from/file%", "InvalidSourceUri"],
    [`/aaa/from/${"x".repeat(5000)}`, "InvalidSourceUri"],
    ["/aaa", "InvalidRenameSourcePath"],
  ])("%s is refused: %s", async (from, code) => {
    const before = [await listed(developmentAccountName), await listed(otherName)];
    const answer = await rename({ from });
    expect([answer.status < 400, answer.code]).toEqual([false, code]);
    expect([await listed(developmentAccountName), await listed(otherName)]).toEqual(before);
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
      await must({ method: "PATCH", path: at, headers: { "x-ms-permissions": mode } });
    }
    const before = await listed(developmentAccountName);
    const { to = "/aaa/to/new", from = "/aaa/from/file" } = attempt;
    const headers = { "x-ms-rename-source": from };
    const answer = await call({ method: "PUT", path: `${to}?mode=legacy`, headers }, "as me");
    expect([answer.status < 300, answer.code]).toEqual([code === undefined, code]);
    if (code !== undefined) expect(await listed(developmentAccountName)).toEqual(before);
  });
});
