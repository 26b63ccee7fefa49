import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodes, versionEnds, versions } from "../../src/file/records.ts";
import {
  expectDone,
  namesIn,
  newFile,
  newShare,
  signedUrl,
  snapshot,
} from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";
import { inForm } from "../harness/long-form.ts";

/** The content of a share by path: the text of a file, or undefined for a directory. */
type Model = ReadonlyMap<string, string | undefined>;

const directories = ["d", "e"] as const;
const paths = ["a", "b", "d/a", "d/b", "e/a"] as const;

const step = fc.oneof(
  fc.record({ what: fc.constant("write" as const), path: fc.constantFrom(...paths), text: text() }),
  fc.record({ what: fc.constant("delete" as const), path: fc.constantFrom(...paths) }),
  fc.record({ what: fc.constant("make" as const), path: fc.constantFrom(...directories) }),
  fc.record({ what: fc.constant("unmake" as const), path: fc.constantFrom(...directories) }),
  fc.record({
    what: fc.constant("rename" as const),
    path: fc.constantFrom(...paths, ...directories),
    to: fc.constantFrom(...paths, ...directories),
  }),
  fc.record({ what: fc.constant("snapshot" as const) }),
  fc.record({ what: fc.constant("forget" as const), index: fc.nat(5) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function text() {
  return fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom("x", "y", "z") });
}

async function carryOut(world: SimFile, action: Step): Promise<boolean> {
  switch (action.what) {
    case "write":
      return newFile(world, `/share/${action.path}`, action.text).then(
        () => true,
        () => false,
      );
    case "delete":
      return succeeded(world, "DELETE", `/share/${action.path}`);
    case "make":
      return succeeded(world, "PUT", `/share/${action.path}?restype=directory`);
    case "unmake":
      return succeeded(world, "DELETE", `/share/${action.path}?restype=directory`);
    case "rename": {
      const isDirectory = directories.some((name) => name === action.path);
      const query = isDirectory ? "restype=directory&comp=rename" : "comp=rename";
      const headers = {
        "x-ms-file-rename-source": signedUrl(`/share/${action.path}`),
        "x-ms-file-rename-replace-if-exists": "true",
      };
      const call = { method: "PUT", path: `/share/${action.to}?${query}`, headers };
      return (await world.send(call)).status === 200;
    }
    default:
      return true;
  }
}

async function succeeded(world: SimFile, method: string, path: string): Promise<boolean> {
  return (await world.send({ method, path })).status < 300;
}

/** Walks a share or a share snapshot. */
async function walkThrough(world: SimFile, query: string): Promise<Model> {
  const found = new Map<string, string | undefined>();
  const visit = async (path: string): Promise<void> => {
    for (const name of await namesIn(world, `/share${path}`, query)) {
      const below = `${path}/${name}`;
      const file = await world.send({ method: "GET", path: `/share${below}?a=b${query}` });
      if (file.status < 300) found.set(below, file.body);
      else {
        found.set(below, undefined);
        await visit(below);
      }
    }
  };
  await visit("");
  return found;
}

async function countKept(world: SimFile): Promise<number> {
  return world.store.snapshot(async (view) => {
    let count = 0;
    for (const bounds of [versions.range([]), versionEnds.range([])]) {
      for await (const batch of view.range(bounds)) count += batch.length;
    }
    return count;
  });
}

describe("6 share snapshots", () => {
  it("keep what they contained after any change, and leave nothing behind", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
        const world = await simFile();
        await newShare(world);
        const taken = new Map<string, Model>();
        for (const action of steps) {
          world.clock.advance(1000);
          if (action.what === "snapshot") {
            taken.set(await snapshot(world, "/share"), await walkThrough(world, ""));
          } else if (action.what === "forget") {
            const at = [...taken.keys()][action.index];
            if (at === undefined) continue;
            taken.delete(at);
            const path = `/share?restype=share&sharesnapshot=${at}`;
            await expectDone(world.send({ method: "DELETE", path }));
            await world.reclaim();
          } else await carryOut(world, action);
          for (const [at, model] of taken) {
            expect(await walkThrough(world, `&sharesnapshot=${at}`)).toEqual(model);
          }
        }
        for (const at of taken.keys()) {
          const path = `/share?restype=share&sharesnapshot=${at}`;
          await expectDone(world.send({ method: "DELETE", path }));
        }
        await world.reclaim();
        expect(await countKept(world)).toBe(0);
      }),
      { seed: 11, numRuns: inForm(15, 60) },
    );
  });

  it("have a cost independent of the share's size, and keep nothing until a file changes", async () => {
    const world = await simFile();
    await newShare(world);
    for (let index = 0; index < 1000; index += 1) await newFile(world, `/share/f${index}`);
    await snapshot(world, "/share");
    expect(await countKept(world)).toBe(0);
    await newFile(world, "/share/f7", "changed");
    expect(await countKept(world)).toBe(2);
  });

  it("are read-only, and an unknown snapshot is not found", async () => {
    const world = await simFile();
    await newShare(world);
    await newFile(world, "/share/f", "text");
    const at = await snapshot(world, "/share");
    const path = `/share/f?sharesnapshot=${at}`;
    expect((await world.send({ method: "DELETE", path })).code).toBe("InvalidQueryParameterValue");
    const unknown = "/share/f?sharesnapshot=2020-01-01T00:00:00.0000000Z";
    expect((await world.send({ method: "GET", path: unknown })).code).toBe("ShareNotFound");
  });

  it("are deleted with their share", async () => {
    const world = await simFile();
    await newShare(world);
    await newFile(world, "/share/f", "text");
    await snapshot(world, "/share");
    await newFile(world, "/share/f", "other");
    const headers = { "x-ms-delete-snapshots": "include" };
    await expectDone(world.send({ method: "DELETE", path: "/share?restype=share", headers }));
    world.clock.advance(60_000);
    await world.reclaim();
    expect(await countKept(world)).toBe(0);
    const left = await world.store.snapshot(async (view) => {
      for await (const batch of view.range(nodes.range([]))) return batch.length;
      return 0;
    });
    expect(left).toBe(0);
  });
});
