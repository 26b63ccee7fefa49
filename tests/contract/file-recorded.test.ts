import { beforeEach, describe, expect, it } from "vitest";
import { expectDone, newDirectory, newFile, newShare, signedUrl } from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

/** Facts from recordings of the service, one row each. */

let world: SimFile;

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
});

const ofDirectory =
  "O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)" +
  "(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)";
const ofFile = "O:SYG:SYD:(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x1200a9;;;BU)(A;;0x1301bf;;;AU)(A;;FA;;;SY)";
const own = "O:BAG:SYD:P(A;OICI;FA;;;BA)";
const inherit = { "x-ms-file-permission": "inherit" };

async function keyOf(path: string): Promise<string> {
  return (await world.send({ method: "HEAD", path })).headers["x-ms-file-permission-key"] ?? "";
}

async function permissionOf(path: string): Promise<string> {
  const headers = { "x-ms-file-permission-key": await keyOf(path) };
  const wanted = { method: "GET", path: "/share?restype=share&comp=filepermission", headers };
  const { permission } = JSON.parse((await world.send(wanted)).body) as { permission: string };
  return permission;
}

function put(path: string, headers: Readonly<Record<string, string>>) {
  return expectDone(world.send({ method: "PUT", path, headers }));
}

const file = { "x-ms-type": "file", "x-ms-content-length": "0" };
const directory = (path: string) => `${path}?restype=directory`;

describe("an inherited permission", () => {
  it.each<[string, () => Promise<unknown>, string, string]>([
    [
      "of a directory in the root",
      () => put(directory("/share/d"), inherit),
      directory("/share/d"),
      ofDirectory,
    ],
    [
      "of a directory that names none",
      () => newDirectory(world, "/share/d"),
      directory("/share/d"),
      ofDirectory,
    ],
    ["of a file in the root", () => put("/share/f", { ...file, ...inherit }), "/share/f", ofFile],
    [
      "of a directory in a directory",
      async () => {
        await newDirectory(world, "/share/d");
        await put(directory("/share/d/e"), inherit);
      },
      directory("/share/d/e"),
      ofDirectory,
    ],
    [
      "of a file in a directory with one of its own",
      async () => {
        await put(directory("/share/d"), { "x-ms-file-permission": own });
        await put("/share/d/f", { ...file, ...inherit });
      },
      "/share/d/f",
      "O:SYG:SYD:(A;;FA;;;BA)",
    ],
    [
      "of a directory in a directory with one of its own",
      async () => {
        await put(directory("/share/d"), { "x-ms-file-permission": own });
        await put(directory("/share/d/e"), inherit);
      },
      directory("/share/d/e"),
      "O:SYG:SYD:(A;OICI;FA;;;BA)",
    ],
    [
      "of a file whose own one is set to inherit again",
      async () => {
        await put("/share/f", { ...file, "x-ms-file-permission": own });
        await put("/share/f?comp=properties", inherit);
      },
      "/share/f",
      ofFile,
    ],
    [
      "of a copy",
      async () => {
        await put(directory("/share/d"), { "x-ms-file-permission": own });
        await newFile(world, "/share/f");
        await put("/share/d/f", { "x-ms-copy-source": signedUrl("/share/f") });
      },
      "/share/d/f",
      "O:SYG:SYD:(A;;FA;;;BA)",
    ],
    [
      "of a renamed file is the one it had",
      async () => {
        await put(directory("/share/d"), { "x-ms-file-permission": own });
        await newFile(world, "/share/f");
        const renamed = { "x-ms-file-rename-source": signedUrl("/share/f") };
        await put("/share/d/f?comp=rename", renamed);
      },
      "/share/d/f",
      ofFile,
    ],
  ])("%s", async (_, prepare, path, expected) => {
    await prepare();
    expect(await permissionOf(path)).toBe(expected);
  });
});

describe("x-ms-content-md5", () => {
  const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
  it.each<[string, string, string, number]>([
    ["4 bytes", "/share/f?comp=properties", "AQIDBA==", 200],
    ["16 bytes", "/share/f?comp=properties", "1B2M2Y8AsgTpgAmY7PhCfg==", 200],
    ["18 bytes", "/share/f?comp=properties", "TUQ1TUQ1TUQ1TUQ1TUQ1TUQ1", 200],
    ["4 bytes of a new file", "/share/f", "AQIDBA==", 201],
    ["no base64", "/share/f?comp=properties", "not base64!", 400],
  ])("may be %s", async (_, path, md5, status) => {
    await newFile(world, "/share/f");
    const sent = path.includes("?") ? {} : headers;
    const answer = await world.send({
      method: "PUT",
      path,
      headers: { ...sent, "x-ms-content-md5": md5 },
    });
    expect(answer.status).toBe(status);
    const { headers: found } = await world.send({ method: "HEAD", path: "/share/f" });
    expect(found["content-md5"]).toBe(status === 400 ? undefined : md5);
  });
});
