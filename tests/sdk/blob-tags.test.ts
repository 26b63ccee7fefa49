import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
let service: BlobServiceClient;
let container: ContainerClient;

beforeAll(() => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  container = service.getContainerClient(freshName("tags"));
  await container.create();
});

async function put(name: string, tags: Record<string, string>): Promise<void> {
  await container.getBlockBlobClient(name).upload("x", 1, { tags });
}

async function found(where: string, pageSize = 5000): Promise<string[]> {
  const names: string[] = [];
  for await (const page of container.findBlobsByTags(where).byPage({ maxPageSize: pageSize })) {
    for (const { name } of page.blobs) names.push(name);
  }
  return names;
}

async function foundInAccount(where: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, containerName } of service.findBlobsByTags(where)) {
    names.push(`${containerName}/${name}`);
  }
  return names;
}

describe("tags", () => {
  it("are replaced as a whole, without a new ETag", async () => {
    await put("b", { a: "1" });
    const blob = container.getBlobClient("b");
    const before = (await blob.getProperties()).etag;
    await blob.setTags({ b: "2", c: "3" });
    expect((await blob.getTags()).tags).toEqual({ b: "2", c: "3" });
    expect((await blob.getProperties()).etag).toBe(before);
    expect((await blob.getProperties()).tagCount).toBe(2);
    await blob.setTags({});
    expect((await blob.getTags()).tags).toEqual({});
  });

  it("require the lease of their blob", async () => {
    await put("b", { a: "1" });
    const blob = container.getBlobClient("b");
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(-1);
    await expect(blob.setTags({ a: "2" })).rejects.toMatchObject({ statusCode: 412 });
    await blob.setTags({ a: "2" }, { conditions: { leaseId: leaseId ?? "" } });
    expect((await blob.getTags()).tags).toEqual({ a: "2" });
  });

  it.each([
    ["eleven", Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, "x"]))],
    ["a long name", { ["n".repeat(129)]: "x" }],
    ["a long value", { n: "x".repeat(257) }],
    ["a character that is not allowed", { n: "ü" }],
  ])("are rejected: %s", async (_what, tags) => {
    await put("b", { a: "1" });
    const blob = container.getBlobClient("b");
    await expect(blob.setTags(tags)).rejects.toMatchObject({ statusCode: 400 });
    expect((await blob.getTags()).tags).toEqual({ a: "1" });
  });
});

describe("a search", () => {
  it("reflects writes, overwrites and deletes at once", async () => {
    await put("one", { colour: "blue" });
    await put("two", { colour: "blue" });
    expect(await found("colour = 'blue'")).toEqual(["one", "two"]);
    await put("one", { colour: "red" });
    expect(await found("colour = 'blue'")).toEqual(["two"]);
    await container.deleteBlob("two");
    expect(await found("colour = 'blue'")).toEqual([]);
    expect(await found("colour = 'red'")).toEqual(["one"]);
    await container.getBlockBlobClient("one").upload("untagged", 8);
    expect(await found("colour = 'red'")).toEqual([]);
  });

  it("combines several tags and compares ranges", async () => {
    for (let day = 1; day <= 9; day += 1) {
      const parity = day % 2 === 0 ? "even" : "odd";
      await put(`d${day}`, { date: `2024-01-0${day}`, parity });
    }
    const range = "date >= '2024-01-03' AND date < '2024-01-07'";
    expect(await found(range)).toEqual(["d3", "d4", "d5", "d6"]);
    expect(await found(`${range} AND parity = 'even'`)).toEqual(["d4", "d6"]);
    expect(await found("parity = 'odd' AND date = '2024-01-05'")).toEqual(["d5"]);
    expect(await found("parity = 'odd' AND date = '2024-01-04'")).toEqual([]);
    expect(await found("date > '2024-01-08'")).toEqual(["d9"]);
  });

  it("returns the same for every page size", async () => {
    const names = Array.from({ length: 23 }, (_, i) => `b${String(i).padStart(2, "0")}`);
    for (const name of names) await put(name, { kind: "k", half: name < "b12" ? "1" : "2" });
    for (const size of [1, 2, 7, 23, 24]) {
      expect(await found("kind = 'k'", size)).toEqual(names);
      expect(await found("kind = 'k' AND half >= '2'", size)).toEqual(names.slice(12));
      expect(await found("half > '0'", size)).toEqual(names);
    }
  });

  it("covers all containers of its own account only, and reflects their deletion", async () => {
    const kind = freshName("kind");
    await put("here", { kind });
    const other = service.getContainerClient(freshName("other"));
    await other.create();
    await other.getBlockBlobClient("there").upload("x", 1, { tags: { kind } });
    const both = [`${container.containerName}/here`, `${other.containerName}/there`];
    expect((await foundInAccount(`kind = '${kind}'`)).toSorted()).toEqual(both.toSorted());
    const one = `@container = '${other.containerName}' AND kind = '${kind}'`;
    expect(await foundInAccount(one)).toEqual([both[1]]);
    await other.delete();
    expect(await foundInAccount(`kind = '${kind}'`)).toEqual([both[0]]);
  });

  it.each(["a", "a = b", "a = 'x' OR b = 'y'", "a <> 'x'", "(a = 'x')", "a = 'x' AND"])(
    "rejects %j",
    async (where) => {
      await expect(found(where)).rejects.toMatchObject({ statusCode: 400 });
    },
  );
});
