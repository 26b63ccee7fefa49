import { beforeEach, describe, expect, it } from "vitest";
import { SimTree } from "../harness/sim-tree.ts";

const files = ["a-b", "a/1", "a/2/x", "a/2/y", "a/3", "b", "c/d/e/f"];
const paths = "a a/1 a/2 a/2/x a/2/y a/3 a-b b c c/d c/d/e c/d/e/f".split(" ");

let tree: SimTree;

beforeEach(async () => {
  tree = await SimTree.open();
  for (const path of files) await tree.put(path);
});

describe("a listing of a hierarchical account", () => {
  it("is in the order of the tree, a directory before its content", async () => {
    const { names, body } = await tree.list();
    expect(names).toEqual(paths);
    expect(body.match(/<ResourceType>directory</g)).toHaveLength(5);
    expect(body.match(/<ResourceType>file</g)).toHaveLength(7);
  });

  it.each([1, 2, 3, 5, 11, 12, 13])("goes on where a page of %i ended", async (size) => {
    const pages = await tree.listPages("", size);
    expect(pages.flat()).toEqual(paths);
    expect(pages).toHaveLength(Math.ceil(paths.length / size));
  });

  it("goes on behind what was deleted meanwhile", async () => {
    const { marker } = await tree.list("&maxresults=3");
    for (const path of ["a/2/x", "a/2/y", "a/2"]) await tree.send("DELETE", path);
    const rest = await tree.list(`&marker=${encodeURIComponent(marker)}`);
    expect(rest.names).toEqual(paths.slice(5));
  });

  it.each([
    ["a", ["a", "a/1", "a/2", "a/2/x", "a/2/y", "a/3", "a-b"]],
    ["a/", ["a/1", "a/2", "a/2/x", "a/2/y", "a/3"]],
    ["a/2", ["a/2", "a/2/x", "a/2/y"]],
    ["c/d/", ["c/d/e", "c/d/e/f"]],
    ["b/", []],
    ["x/y/", []],
  ])("of prefix %s", async (prefix, names) => {
    expect((await tree.list(`&prefix=${prefix}`)).names).toEqual(names);
    expect((await tree.listPages(`&prefix=${prefix}`, 1)).flat()).toEqual(names);
  });

  it.each([
    ["", ["a/", "a-b", "b", "c/"]],
    ["a", ["a/", "a-b"]],
    ["a/", ["a/1", "a/2/", "a/3"]],
    ["c/d", ["c/d/"]],
  ])("of prefix %s by directories", async (prefix, names) => {
    const query = `&delimiter=/&prefix=${prefix}`;
    expect((await tree.list(query)).names).toEqual(names);
    expect((await tree.listPages(query, 1)).flat()).toEqual(names);
  });

  it("takes no other delimiter", async () => {
    const path = "/ccc?restype=container&comp=list&delimiter=-";
    const { code, status } = await tree.sim.send({ method: "GET", path });
    expect([status, code]).toEqual([400, "InvalidQueryParameterValue"]);
  });

  it("can be of files or directories alone, and show permissions", async () => {
    const shown = await tree.list("&showonly=files");
    expect(shown.names).toEqual(["a/1", "a/2/x", "a/2/y", "a/3", "a-b", "b", "c/d/e/f"]);
    const { names, body } = await tree.list("&showonly=directories&include=permissions");
    expect(names).toEqual(["a", "a/2", "c", "c/d", "c/d/e"]);
    expect(body).toContain(
      "<Owner>$superuser</Owner><Group>$superuser</Group><Permissions>rwxr-x---</Permissions>" +
        "<Acl>user::rwx,group::r-x,other::---</Acl><ResourceType>directory</ResourceType>",
    );
  });

  it("shows snapshots and uncommitted blobs where they are", async () => {
    await tree.send("PUT", "a/2/y?comp=snapshot");
    await tree.send("PUT", "a/0?comp=block&blockid=AAAA", {}, "data");
    const query = "&prefix=a/&include=snapshots,uncommittedblobs";
    const expected = ["a/0", "a/1", "a/2", "a/2/x", "a/2/y", "a/2/y", "a/3"];
    expect((await tree.list(query)).names).toEqual(expected);
    expect((await tree.listPages(query, 1)).flat()).toEqual(expected);
  });

  it("starts from a path of the tree", async () => {
    expect((await tree.list("&startfrom=a/2/y")).names).toEqual(paths.slice(4));
    expect((await tree.list("&startfrom=a-b&prefix=a/")).names).toEqual([]);
    expect((await tree.list("&startfrom=a&prefix=c/")).names).toEqual(paths.slice(9));
  });
});
