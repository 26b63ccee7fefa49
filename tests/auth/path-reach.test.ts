// A SAS for one path (`sr=b`) may name a directory, but gives no access to what is below it.
import { beforeEach, describe, expect, it } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { directoryToken, fileToken, lakeWorld, type LakeWorld } from "./lake-world.ts";

const all = "racwdlmeop";
const allOfFile = "racwdmeop";
const single = fileToken("aaa", "from", allOfFile);
const whole = directoryToken("aaa", "from", all);
const acl = { "x-ms-acl": "user::rwx,group::rwx,other::rwx" };
const source = (token: string) => ({ "x-ms-rename-source": `/aaa/from?${token}` });

let lake: LakeWorld;

beforeEach(async () => {
  lake = await lakeWorld();
});

describe("a SAS for a directory and one for its path alone", () => {
  const requests: readonly [string, (token: string) => Parameters<LakeWorld["sendAs"]>[0]][] = [
    ["delete", (token) => ({ method: "DELETE", path: `/aaa/from?recursive=true&${token}` })],
    [
      "change lists below",
      (token) => ({
        method: "PATCH",
        path: `/aaa/from?action=setAccessControlRecursive&mode=set&${token}`,
        headers: acl,
      }),
    ],
    [
      "list",
      (token) => ({
        method: "GET",
        path: `/aaa?resource=filesystem&recursive=true&directory=from&${token}`,
      }),
    ],
    [
      "rename",
      (token) => ({
        method: "PUT",
        path: `/aaa/moved?mode=legacy&${fileToken("aaa", "moved", allOfFile)}`,
        headers: source(token),
      }),
    ],
  ];

  it.each(requests)("%s", async (what, request) => {
    // The client library makes no SAS for a single path that permits listing.
    const code = what === "list" ? "AuthorizationPermissionMismatch" : "AuthorizationFailure";
    const before = await lake.listed(developmentAccountName);
    const refused = await lake.sendAs(request(single));
    expect([refused.status, refused.code]).toEqual([403, code]);
    expect(await lake.listed(developmentAccountName)).toEqual(before);
    expect((await lake.sendAs(request(whole))).status).toBeLessThan(300);
  });

  it.each([
    ["HEAD", `/aaa/from?${single}`, 200],
    ["HEAD", `/aaa/from?action=getAccessControl&${single}`, 200],
    ["PUT", `/aaa/from?resource=directory&${single}`, 201],
    ["DELETE", `/aaa/from?${single}`, 409],
    ["DELETE", `/aaa/from/file?recursive=true&${fileToken("aaa", "from/file", allOfFile)}`, 200],
  ])("one for the path permits %s %#", async (method, path, status) => {
    expect((await lake.sendAs({ method, path })).status).toBe(status);
  });

  it("is the same rule on accounts with a flat namespace", async () => {
    lake = await lakeWorld(false);
    const remove = (path: string) =>
      lake.sendAs({
        method: "DELETE",
        path: `/aaa/${path}?recursive=true&${fileToken("aaa", path, allOfFile)}`,
      });
    expect((await remove("from")).code).toBe("AuthorizationFailure");
    expect((await remove("from/file")).status).toBe(200);
  });
});
