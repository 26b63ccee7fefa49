import { beforeEach, describe, expect, it } from "vitest";
import { resizeFile, writeFile } from "../../src/file/filesystem/write.ts";
import { Right } from "../../src/file/locks/access.ts";
import { nodes, shareUsage } from "../../src/file/records.ts";
import { Records } from "../../src/operation/records.ts";
import { newFile, newShare, putRange } from "../harness/file-steps.ts";
import { simFile, type SimFile, type SimHandle } from "../harness/sim-file.ts";

let world: SimFile;
const quotaGib = 1;
const bytesPerGib = 1024n ** 3n;
const files = Array.from({ length: 8 }, (_, index) => `f${index}`);

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
  const headers = { "x-ms-share-quota": String(quotaGib) };
  const path = "/share?restype=share&comp=properties";
  await world.send({ method: "PUT", path, headers });
  for (const name of files) {
    await newFile(world, `/share/${name}`);
    const resize = { "x-ms-content-length": "4" };
    await world.send({
      method: "PUT",
      path: `/share/${name}?comp=properties`,
      headers: resize,
    });
  }
});

async function open(name: string): Promise<SimHandle> {
  const handle = await world.open("share", { path: [name], access: Right.writeData, share: 7 });
  if (typeof handle === "string") throw new Error(handle);
  return handle;
}

/** Marks all but this many bytes of the share's quota as used. */
async function leave(bytes: bigint): Promise<void> {
  const { reference } = await open("f0");
  const counter = shareUsage.key(reference.share.id);
  const present = await used();
  await world.store.transact(async (tx) => tx.add(counter, bytesPerGib - bytes - present));
}

async function used(): Promise<bigint> {
  const { body } = await world.send({ method: "GET", path: "/share?restype=share&comp=stats" });
  return BigInt(/<ShareUsageBytes>(\d+)</.exec(body)?.[1] ?? -1);
}

const smbWrite = async (name: string, at: number) => {
  const { reference, open: handle } = await open(name);
  const bytes = Buffer.from("text");
  return writeFile(world.runtime, { reference, handle, keepsLastWrite: false, at, bytes });
};

const smbResize = async (name: string, length: number) => {
  const { reference, open: handle } = await open(name);
  return resizeFile(world.runtime, { reference, handle, keepsLastWrite: false, length });
};

const createFile = (name: string, length: number, body = "") => {
  const version = { "x-ms-version": "2026-06-06" };
  const headers = { ...version, "x-ms-type": "file", "x-ms-content-length": String(length) };
  return world.send({ method: "PUT", path: `/share/${name}`, headers, body });
};

const setLength = (name: string, length: number) => {
  const headers = { "x-ms-content-length": String(length) };
  return world.send({ method: "PUT", path: `/share/${name}?comp=properties`, headers });
};

describe("6 the quota of a share", () => {
  it("rejects longer files, over REST and SMB, and changes nothing", async () => {
    await leave(3n);
    const refused = [
      await createFile("new", 4),
      await createFile("new", 4, "text"),
      await setLength("f1", 8),
    ];
    for (const { status, code } of refused) {
      expect([status, code]).toEqual([413, "ShareSizeLimitReached"]);
    }
    expect(await smbWrite("f2", 4)).toEqual({ kind: "fault", fault: "disk-full" });
    expect(await smbResize("f2", 8)).toEqual({ kind: "fault", fault: "disk-full" });
    expect(await used()).toBe(bytesPerGib - 3n);
    expect((await world.send({ method: "GET", path: "/share/f1" })).body).toBe("\0".repeat(4));
    expect((await world.send({ method: "HEAD", path: "/share/new" })).status).toBe(404);
    expect((await setLength("f1", 7)).status).toBe(200);
    expect(await used()).toBe(bytesPerGib);
  });

  it("is not exceeded by concurrent writers", async () => {
    await leave(10n);
    const outcomes = await Promise.all(
      files.map(async (name, index) => {
        if (index % 2 === 0) return (await smbWrite(name, 4)).kind === "done";
        return (await createFile(`new-${name}`, 4, "text")).status === 201;
      }),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(2);
    expect(await used()).toBe(bytesPerGib - 2n);
  });

  it("allows writing inside a file, whose length counts already", async () => {
    await leave(0n);
    expect((await putRange(world, "/share/f1", 0, "text")).status).toBe(201);
    expect((await smbWrite("f1", 0)).kind).toBe("done");
    expect((await createFile("f1", 4, "more")).status).toBe(201);
    expect(await used()).toBe(bytesPerGib);
  });

  it("counts the length of files, written or not, until they are deleted", async () => {
    const before = await used();
    expect(before).toBe(BigInt(4 * files.length));
    await createFile("sparse", 1_000_000);
    expect(await used()).toBe(before + 1_000_000n);
    await putRange(world, "/share/sparse", 0, "text");
    await setLength("sparse", 1000);
    await smbWrite("sparse", 2000);
    expect(await used()).toBe(before + 2004n);
    await createFile("other", 1000);
    await world.send({ method: "DELETE", path: "/share/other" });
    expect(await used()).toBe(before + 2004n);
  });

  it("takes files of an earlier release as they were counted", async () => {
    const { reference } = await open("f0");
    const share = reference.share.id;
    const before = await used();
    // An earlier release counted the written bytes of f1: none of 4.
    await world.store.transact(async (tx) => {
      const records = new Records(tx, world.runtime.content);
      const location = { share, parent: 0n, folded: "F1" };
      const { counted: _, ...record } = (await records.get(nodes, location))!;
      tx.put(nodes.key(location), nodes.codec.encode(record));
      tx.add(shareUsage.key(share), -4n);
    });
    expect(await used()).toBe(before - 4n);
    await putRange(world, "/share/f1", 0, "text");
    expect(await used()).toBe(before);
    await world.send({ method: "DELETE", path: "/share/f1" });
    expect(await used()).toBe(before - 4n);
  });
});
