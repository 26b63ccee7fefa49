import { beforeEach, describe, expect, it } from "vitest";
import { accountToken, filesystemToken, lakeWorld, type LakeWorld } from "./lake-world.ts";

/* `p` permits to set permissions and lists of paths, `o` to set owners. A request that creates a
 * path again needs only `w`: the existing path then keeps its access. */

let lake: LakeWorld;

beforeEach(async () => {
  lake = await lakeWorld();
});

const create = (path: string, token: string, headers: Readonly<Record<string, string>>) =>
  lake.sendAs({ method: "PUT", path: `${path}?resource=file&${token}`, headers });

async function accessOf(path: string) {
  const action = `${path}?action=getAccessControl`;
  const { headers } = await lake.must({ method: "HEAD", path: action });
  return [headers["x-ms-owner"], headers["x-ms-group"], headers["x-ms-permissions"]];
}

describe("a SAS that creates a path again", () => {
  const mode = { "x-ms-permissions": "0777", "x-ms-umask": "0000" };
  const list = { "x-ms-acl": "user::rwx,group::rwx,other::rwx" };
  const owners = { "x-ms-owner": "alice", "x-ms-group": "staff" };
  const open = ["$superuser", "$superuser", "rwxrwxrwx"];

  it.each([
    ["of the filesystem, without p", filesystemToken("aaa", "rcw"), mode],
    ["of the filesystem, without p, a list", filesystemToken("aaa", "rcw"), list],
    ["of the filesystem, without o", filesystemToken("aaa", "rcwp"), owners],
    ["of the filesystem, one of two", filesystemToken("aaa", "rcwp"), { ...mode, ...owners }],
    ["of the account, without p", accountToken("rcw"), mode],
  ])("%s, does not change its access", async (_, token, headers) => {
    const before = await accessOf("/aaa/to/old");
    expect((await create("/aaa/to/old", token, headers)).status).toBe(201);
    expect(await accessOf("/aaa/to/old")).toEqual(before);
  });

  it.each([
    ["with p", "rcwp", mode, open],
    ["with p, a list", "rcwp", list, open],
    ["with p and o", "rcwpo", { ...mode, ...owners }, ["alice", "staff", "rwxrwxrwx"]],
  ])("%s, does", async (_, letters, headers, expected) => {
    expect((await create("/aaa/to/old", filesystemToken("aaa", letters), headers)).status).toBe(
      201,
    );
    expect(await accessOf("/aaa/to/old")).toEqual(expected);
  });

  it("chooses the access of a new path without p", async () => {
    expect((await create("/aaa/to/new", filesystemToken("aaa", "c"), mode)).status).toBe(201);
    expect(await accessOf("/aaa/to/new")).toEqual(open);
  });
});
