import { beforeEach, describe, expect, it } from "vitest";
import { writeFile } from "../../src/file/filesystem/write.ts";
import { writeData } from "../../src/file/locks/access.ts";
import { usageCounter } from "../../src/file/records.ts";
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
  const handle = await world.open("share", { path: [name], access: writeData, share: 7 });
  if (typeof handle === "string") throw new Error(handle);
  return handle;
}

/** Marks all but this many bytes of the share's quota as used. */
async function leave(bytes: bigint): Promise<void> {
  const { reference } = await open("f0");
  const counter = usageCounter(reference.share.id);
  await world.store.transact(async (tx) => tx.add(counter, bytesPerGib - bytes));
}

async function used(): Promise<bigint> {
  const { body } = await world.send({ method: "GET", path: "/share?restype=share&comp=stats" });
  return BigInt(/<ShareUsageBytes>(\d+)</.exec(body)?.[1] ?? -1);
}

const smbWrite = async (name: string) => {
  const { reference, open: handle } = await open(name);
  const bytes = Buffer.from("text");
  return writeFile(world.runtime, { reference, handle, keepsLastWrite: false, at: 0, bytes });
};

describe("6 the quota of a share", () => {
  it("rejects writes that exceed it, over REST and SMB, and changes nothing", async () => {
    await leave(3n);
    const refused = await putRange(world, "/share/f1", 0, "text");
    expect([refused.status, refused.code]).toEqual([413, "ShareSizeLimitReached"]);
    expect(await smbWrite("f2")).toEqual({ kind: "fault", fault: "disk-full" });
    expect(await used()).toBe(bytesPerGib - 3n);
    expect((await world.send({ method: "GET", path: "/share/f1" })).body).toBe("\0".repeat(4));
    expect((await putRange(world, "/share/f1", 0, "tex")).status).toBe(201);
  });

  it("is not exceeded by concurrent writers", async () => {
    await leave(10n);
    const outcomes = await Promise.all(
      files.map(async (name, index) => {
        if (index % 2 === 0) return (await smbWrite(name)).kind === "done";
        return (await putRange(world, `/share/${name}`, 0, "text")).status === 201;
      }),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(2);
    expect(await used()).toBe(bytesPerGib - 2n);
  });

  it("allows overwriting existing bytes", async () => {
    await leave(4n);
    expect((await putRange(world, "/share/f1", 0, "text")).status).toBe(201);
    expect((await putRange(world, "/share/f1", 0, "more")).status).toBe(201);
  });
});
