import { beforeEach, describe, expect, it } from "vitest";
import type { Principal } from "../../src/protocol/principal.ts";
import { simBlob } from "../harness/sim-blob.ts";

/* Recorded in 2021: a blob that has only uncommitted blocks can be leased. */

const blockId = Buffer.from("block-1").toString("base64");
const blockPath = `/abc/b?comp=block&blockid=${encodeURIComponent(blockId)}`;
const list = `<BlockList><Latest>${blockId}</Latest></BlockList>`;
const first = "3d894592-55af-a453-61c6-c644ce46f6ce";
const second = "4d894592-55af-a453-61c6-c644ce46f6ce";
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

type Headers = Readonly<Record<string, string>>;
let blob: Awaited<ReturnType<typeof simBlob>>;

beforeEach(async () => {
  blob = await simBlob();
  await blob.send({ method: "PUT", path: "/abc?restype=container" });
  await stage();
});

const stage = (headers: Headers = {}) =>
  blob.send({ method: "PUT", path: blockPath, headers, body: "content" });
const commit = (headers: Headers = {}) =>
  blob.send({ method: "PUT", path: "/abc/b?comp=blocklist", headers, body: list });
const lease = (action: string, headers: Headers = {}) => {
  const all = { "x-ms-lease-action": action, ...headers };
  return blob.send({ method: "PUT", path: "/abc/b?comp=lease", headers: all });
};
const acquire = (seconds = "-1") =>
  lease("acquire", { "x-ms-lease-duration": seconds, "x-ms-proposed-lease-id": first });
const holding = (id: string) => ({ "x-ms-lease-id": id });

describe("a blob with only uncommitted blocks", () => {
  it("is leased with the ETag of the year 1601, and remains absent", async () => {
    const { status, headers } = await acquire();
    expect(status).toBe(201);
    expect(headers).toMatchObject({
      etag: '"0x701CE1722770000"',
      "last-modified": "Mon, 01 Jan 1601 00:00:00 GMT",
      "x-ms-lease-id": first,
    });
    expect((await blob.send({ method: "HEAD", path: "/abc/b" })).status).toBe(404);
    expect(
      (await blob.send({ method: "GET", path: "/abc?restype=container&comp=list" })).body,
    ).not.toContain("<Name>b</Name>");
  });

  it("accepts no write without its lease", async () => {
    await acquire();
    const source = { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/abc/source" };
    await blob.send({ method: "PUT", path: "/abc/source", headers: blockBlob, body: "source" });
    const writes = {
      block: () => stage(),
      list: () => commit(),
      blob: () => blob.send({ method: "PUT", path: "/abc/b", headers: blockBlob, body: "other" }),
      copy: () => blob.send({ method: "PUT", path: "/abc/b", headers: source }),
      delete: () => blob.send({ method: "DELETE", path: "/abc/b" }),
    };
    for (const [name, write] of Object.entries(writes)) {
      const { status, code } = await write();
      expect({ name, status, code }).toEqual({ name, status: 412, code: "LeaseIdMissing" });
    }
    const other = await commit(holding(second));
    expect(other.code).toBe("LeaseIdMismatchWithBlobOperation");
  });

  it("passes its lease on to the blob that its blocks become", async () => {
    await acquire();
    expect((await stage(holding(first))).status).toBe(201);
    expect((await commit(holding(first))).status).toBe(201);
    const { headers } = await blob.send({ method: "HEAD", path: "/abc/b" });
    expect(headers["x-ms-lease-state"]).toBe("leased");
    expect((await blob.send({ method: "DELETE", path: "/abc/b" })).code).toBe("LeaseIdMissing");
    expect((await lease("release", holding(first))).status).toBe(200);
    expect((await blob.send({ method: "DELETE", path: "/abc/b" })).status).toBe(202);
  });

  it("is renewed, changed, released and broken", async () => {
    await acquire("15");
    expect((await acquire("15")).status).toBe(201);
    expect((await lease("renew", holding(first))).status).toBe(200);
    const changed = await lease("change", { ...holding(first), "x-ms-proposed-lease-id": second });
    expect(changed.headers["x-ms-lease-id"]).toBe(second);
    expect((await lease("release", holding(first))).code).toBe("LeaseIdMismatchWithLeaseOperation");
    expect((await lease("release", holding(second))).status).toBe(200);
    expect((await stage()).status).toBe(201);
    await acquire();
    const broken = await lease("break", { "x-ms-lease-break-period": "0" });
    expect(broken.status).toBe(202);
    expect((await lease("renew", holding(first))).code).toBe("LeaseIsBrokenAndCannotBeRenewed");
    expect((await commit()).status).toBe(201);
  });

  it("is deleted with its lease", async () => {
    await acquire();
    const deleted = { method: "DELETE", path: "/abc/b", headers: holding(first) } as const;
    expect((await blob.send(deleted)).status).toBe(202);
    expect((await commit()).code).toBe("InvalidBlockList");
    expect((await acquire()).code).toBe("BlobNotFound");
  });
});

describe("in a directory that a caller may only search, uncommitted blocks", () => {
  const bearer = (objectId: string): Principal => ({ kind: "bearer", objectId, tenantId: "t" });
  const listPath = "/abc/dir/b?comp=blocklist&blocklisttype=uncommitted";

  it("are neither leased nor listed", async () => {
    blob = await simBlob({ hierarchicalNamespace: true });
    await blob.send({ method: "PUT", path: "/abc?restype=container" });
    const open = { "x-ms-permissions": "0777", "x-ms-umask": "0000" };
    const root = { method: "PATCH", path: "/abc/?action=setAccessControl", headers: open };
    await blob.sendToDfs(root);
    blob.callAs(bearer("me"));
    const searched = { "x-ms-permissions": "0711", "x-ms-umask": "0000" };
    await blob.sendToDfs({ method: "PUT", path: "/abc/dir?resource=directory", headers: searched });
    const path = blockPath.replace("/abc/b", "/abc/dir/b");
    expect((await blob.send({ method: "PUT", path, body: "content" })).status).toBe(201);
    const taken = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const take = { method: "PUT", path: "/abc/dir/b?comp=lease", headers: taken };
    blob.callAs(bearer("other"));
    for (const call of [take, { method: "GET", path: listPath }]) {
      expect((await blob.send(call)).code).toBe("AuthorizationPermissionMismatch");
    }
    blob.callAs(bearer("me"));
    expect((await blob.send({ method: "GET", path: listPath })).body).toContain(blockId);
    expect((await blob.send(take)).status).toBe(201);
  });
});
