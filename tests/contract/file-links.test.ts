import { beforeEach, describe, expect, it } from "vitest";
import { expectDone, namesIn, newFile, putRange, signedUrl } from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

let world: SimFile;
const recent = { "x-ms-version": "2025-05-05" };

beforeEach(async () => {
  world = await simFile();
  const headers = { "x-ms-enabled-protocols": "NFS" };
  await expectDone(world.send({ method: "PUT", path: "/share?restype=share", headers }));
  await newFile(world, "/share/f", "first");
});

const link = (path: string, to: string, headers: Readonly<Record<string, string>> = {}) =>
  world.send({
    method: "PUT",
    path: `${path}?restype=hardlink`,
    headers: { ...recent, "x-ms-type": "file", "x-ms-file-target-file": to, ...headers },
  });
const get = async (path: string) => (await world.send({ method: "GET", path })).body;
const rename = (from: string, to: string, replaces = false) =>
  world.send({
    method: "PUT",
    path: `${to}?comp=rename`,
    headers: {
      "x-ms-file-rename-source": signedUrl(from),
      "x-ms-file-rename-replace-if-exists": String(replaces),
    },
  });
const usedBytes = async () => {
  const { body } = await world.send({ method: "GET", path: "/share?restype=share&comp=stats" });
  return Number(/<ShareUsageBytes>(\d+)</.exec(body)?.[1]);
};
const remove = (path: string) => expectDone(world.send({ method: "DELETE", path }));

it.each([
  ["Regular", 201],
  ["Fifo", 400],
])("6 a file of the type %s gets %d", async (type, status) => {
  const headers = { ...recent, "x-ms-type": "file", "x-ms-content-length": "0" };
  const call = { method: "PUT", path: "/share/new" };
  const answer = await world.send({
    ...call,
    headers: { ...headers, "x-ms-file-file-type": type },
  });
  expect(answer.status).toBe(status);
});

describe("6 hard links", () => {
  it("are added to a leased file only with its lease id", async () => {
    const lease = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const leased = await world.send({
      method: "PUT",
      path: "/share/f?comp=lease",
      headers: { ...recent, ...lease },
    });
    const id = leased.headers["x-ms-lease-id"] ?? "";
    expect((await link("/share/g", "/f")).code).toBe("LeaseIdMissing");
    const other = { "x-ms-lease-id": "00000000-0000-4000-8000-000000000000" };
    expect((await link("/share/g", "/f", other)).status).toBe(412);
    await expectDone(link("/share/g", "/f", { "x-ms-lease-id": id }));
  });

  // The official Go library's test sends the id of the lease of the share.
  it("ignore the lease id for a file without a lease", async () => {
    const id = { "x-ms-lease-id": "00000000-0000-4000-8000-000000000000" };
    await expectDone(link("/share/g", "/f", id));
  });

  it("share one file until the last name is removed", async () => {
    expect((await link("/share/g", "/f")).headers["x-ms-link-count"]).toBe("2");
    await expectDone(link("/share/h", "g"));
    await expectDone(putRange(world, "/share/h", 0, "other"));
    expect(await get("/share/f")).toBe("other");
    expect(await namesIn(world, "/share")).toEqual(["f", "g", "h"]);
    await remove("/share/f");
    expect(await get("/share/g")).toBe("other");
    await expectDone(putRange(world, "/share/g", 0, "third"));
    expect(await get("/share/h")).toBe("third");
    await remove("/share/h");
    const head = await world.send({ method: "HEAD", path: "/share/g" });
    expect(head.headers["x-ms-link-count"]).toBe("1");
    await remove("/share/g");
    expect(await namesIn(world, "/share")).toEqual([]);
    const stats = await world.send({ method: "GET", path: "/share?restype=share&comp=stats" });
    expect(stats.body).toContain("<ShareUsageBytes>0</ShareUsageBytes>");
  });

  it("are listed with the current properties of the file", async () => {
    await expectDone(link("/share/g", "/f"));
    const lengths = async (): Promise<string[]> => {
      const path = "/share?restype=directory&comp=list";
      const { body } = await expectDone(world.send({ method: "GET", path }));
      return [...body.matchAll(/<Content-Length>(\d+)</g)].map(([, length]) => length ?? "");
    };
    expect(await lengths()).toEqual(["5", "5"]);
    const headers = { "x-ms-content-length": "7" };
    await expectDone(world.send({ method: "PUT", path: "/share/g?comp=properties", headers }));
    expect(await lengths()).toEqual(["7", "7"]);
  });

  it("are renamed individually", async () => {
    await expectDone(link("/share/g", "/f"));
    await expectDone(rename("/share/f", "/share/f2"));
    await expectDone(rename("/share/g", "/share/g2"));
    expect(await namesIn(world, "/share")).toEqual(["f2", "g2"]);
    await expectDone(putRange(world, "/share/g2", 0, "other"));
    expect(await get("/share/f2")).toBe("other");
    await remove("/share/f2");
    expect(await get("/share/g2")).toBe("other");
    await remove("/share/g2");
    expect(await usedBytes()).toBe(0);
  });

  it("are unchanged by a rename to another name of the same file", async () => {
    await expectDone(link("/share/g", "/f"));
    await expectDone(rename("/share/f", "/share/g", true));
    await expectDone(rename("/share/g", "/share/f", true));
    expect(await namesIn(world, "/share")).toEqual(["f", "g"]);
    expect(await get("/share/g")).toBe("first");
  });

  it("lose only the name that another file replaces", async () => {
    await expectDone(link("/share/g", "/f"));
    await newFile(world, "/share/new", "newer");
    await expectDone(rename("/share/new", "/share/f", true));
    expect([await get("/share/f"), await get("/share/g")]).toEqual(["newer", "first"]);
    await expectDone(link("/share/h", "g"));
    await newFile(world, "/share/late", "later");
    await expectDone(rename("/share/late", "/share/h", true));
    expect([await get("/share/g"), await get("/share/h")]).toEqual(["first", "later"]);
    const head = await world.send({ method: "HEAD", path: "/share/g" });
    expect(head.headers["x-ms-link-count"]).toBe("1");
  });

  it("replace another file when they are renamed to it", async () => {
    await expectDone(link("/share/g", "/f"));
    await newFile(world, "/share/old", "older");
    await expectDone(rename("/share/g", "/share/old", true));
    expect(await namesIn(world, "/share")).toEqual(["f", "old"]);
    expect(await get("/share/old")).toBe("first");
    expect(await usedBytes()).toBe(5);
    await remove("/share/f");
    expect(await get("/share/old")).toBe("first");
  });

  it("are rejected on SMB shares", async () => {
    await expectDone(world.send({ method: "PUT", path: "/plain?restype=share" }));
    await newFile(world, "/plain/f", "x");
    expect((await link("/plain/g", "f")).code).toBe("InvalidQueryParameterValue");
  });
});

describe("6 symbolic links", () => {
  it("keep their target text", async () => {
    const headers = { ...recent, "x-ms-link-text": "..%2Fwhere%20else" };
    const path = "/share/s?restype=symboliclink";
    await expectDone(world.send({ method: "PUT", path, headers }));
    const read = await expectDone(world.send({ method: "GET", path, headers: recent }));
    expect(read.headers["x-ms-link-text"]).toBe("..%2Fwhere%20else");
  });
});
