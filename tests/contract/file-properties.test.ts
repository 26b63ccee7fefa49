import { beforeEach, describe, expect, it } from "vitest";
import { expectDone, newFile, newShare, signedUrl } from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

let world: SimFile;
const path = "/share/file";
const directory = "/share/directory?restype=directory";

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
});

type Headers = Readonly<Record<string, string>>;

const put = (target: string, headers: Headers = {}, body = "") =>
  world.send({ method: "PUT", path: target, headers, body });
const head = async () => (await world.send({ method: "HEAD", path })).headers;
const setProperties = (headers: Headers) => put(`${path}?comp=properties`, headers);
const create = (headers: Headers) =>
  put(path, { "x-ms-type": "file", "x-ms-content-length": "4", ...headers });

describe("a read of a range", () => {
  it("has the properties of the file, and its MD5 under another name", async () => {
    const md5 = "1B2M2Y8AsgTpgAmY7PhCfg==";
    await expectDone(create({ "x-ms-content-type": "text/html", "x-ms-content-md5": md5 }));
    const whole = await world.send({ method: "GET", path });
    const range = await world.send({ method: "GET", path, headers: { range: "bytes=1-2" } });
    expect(range.status).toBe(206);
    const expected: Record<string, string | undefined> = { ...whole.headers };
    expected["x-ms-content-md5"] = expected["content-md5"];
    expected["content-range"] = "bytes 1-2/4";
    for (const name of ["content-md5", "content-length", "x-ms-request-id", "date"]) {
      expected[name] = range.headers[name];
    }
    expect(range.headers["content-md5"]).toBeUndefined();
    expect(range.headers).toEqual(expected);
    expect(range.headers).toMatchObject({ "content-type": "text/html", "x-ms-content-md5": md5 });
  });
});

describe("the Content-Type of a file", () => {
  const required = {
    "x-ms-file-attributes": "None",
    "x-ms-file-creation-time": "now",
    "x-ms-file-last-write-time": "now",
    "x-ms-file-permission": "inherit",
  };

  it.each([
    ["2018-11-09", {}, "text/plain"],
    ["2019-02-02", {}, "text/plain"],
    ["2019-02-02", { "x-ms-content-type": "text/html" }, "text/html"],
    ["2019-07-07", {}, "application/octet-stream"],
    ["2026-10-06", {}, "application/octet-stream"],
  ])("in version %s with %j", async (version, headers, expected) => {
    await expectDone(
      create({ "x-ms-version": version, "content-type": "text/plain", ...required, ...headers }),
    );
    expect((await head())["content-type"]).toBe(expected);
  });

  it.each([
    ["2018-11-09", "text/plain"],
    ["2019-07-07", undefined],
  ])("after Set File Properties in version %s", async (version, expected) => {
    await create({});
    await expectDone(
      setProperties({ "x-ms-version": version, "content-type": "text/plain", ...required }),
    );
    expect((await head())["content-type"]).toBe(expected);
  });

  it("is removed by a request without HTTP headers, but not by one with a length alone", async () => {
    await create({ "x-ms-content-type": "text/plain", "x-ms-cache-control": "none" });
    await expectDone(setProperties({ "x-ms-content-length": "8" }));
    expect(await head()).toMatchObject({ "content-type": "text/plain", "cache-control": "none" });
    await expectDone(setProperties({}));
    const after = await head();
    expect([after["content-type"], after["cache-control"]]).toEqual([undefined, undefined]);
  });
});

describe("a negative length", () => {
  it("has a fault of its own", async () => {
    await newFile(world, path, "text");
    const refused = [
      await setProperties({ "x-ms-content-length": "-4" }),
      await create({ "x-ms-content-length": "-4" }),
    ];
    for (const { status, code } of refused)
      expect([status, code]).toEqual([400, "OutOfRangeInput"]);
    expect((await setProperties({ "x-ms-content-length": "x" })).code).toBe("InvalidHeaderValue");
    expect((await head())["content-length"]).toBe("4");
  });
});

const sddl =
  "O:S-1-5-21-2127521184-1604012920-1887927527-21560751" +
  "G:S-1-5-21-2127521184-1604012920-1887927527-513" +
  "D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)";
/** The same descriptor, self-relative, with a null audit list. */
const binary =
  "AQAUhGwAAACIAAAAAAAAABQAAAACAFgAAwAAAAAAFAD/AR8AAQEAAAAAAAUSAAAAAAAYAP8BHwABAgAAAAAABSAAAAAg" +
  "AgAAAAAkAKkAEgABBQAAAAAABRUAAABZUbgXZnJdJWRjOwuMmS4AAQUAAAAAAAUVAAAAoGXPfnhLm1/nfIdwr/1IAQEF" +
  "AAAAAAAFFQAAAKBlz354S5tf53yHcAECAAA=";
const inBinary = { "x-ms-file-permission": binary, "x-ms-file-permission-format": "Binary" };
const keyHeader = "x-ms-file-permission-key";
const permissions = "/share?restype=share&comp=filepermission";

async function permissionOf(key: string | undefined, format: string): Promise<string> {
  const headers = { [keyHeader]: key ?? "", "x-ms-file-permission-format": format };
  const { body } = await expectDone(world.send({ method: "GET", path: permissions, headers }));
  return (JSON.parse(body) as { permission: string }).permission;
}

describe("x-ms-file-permission-format: Binary", () => {
  it("is accepted by Create, Set Properties and Rename", async () => {
    const keys = [
      await expectDone(create(inBinary)),
      await expectDone(setProperties(inBinary)),
      await expectDone(put(directory, inBinary)),
      await expectDone(put(`${directory}&comp=properties`, inBinary)),
      await expectDone(
        put("/share/renamed?comp=rename", {
          "x-ms-file-rename-source": signedUrl(path),
          ...inBinary,
        }),
      ),
    ].map(({ headers }) => headers[keyHeader]);
    const [, setKey, , setDirectoryKey, renameKey] = keys;
    expect(new Set([setKey, setDirectoryKey, renameKey]).size).toBe(1);
    expect(await permissionOf(setKey, "sddl")).toBe(`${sddl}S:NO_ACCESS_CONTROL`);
    expect(await permissionOf(setKey, "binary")).toBe(binary);
  });

  it("is kept byte by byte by Create Permission", async () => {
    const body = JSON.stringify({ permission: binary, format: "binary" });
    const { headers } = await expectDone(put(permissions, {}, body));
    expect(await permissionOf(headers[keyHeader], "binary")).toBe(binary);
  });

  it.each([
    ["x", "binary", "FileInvalidPermission"],
    [sddl, "binary", "FileInvalidPermission"],
    [binary, "sddl", "FileInvalidPermission"],
    [sddl, "other", "InvalidHeaderValue"],
  ])("rejects %s as %s", async (permission, format, code) => {
    const headers = { "x-ms-file-permission": permission, "x-ms-file-permission-format": format };
    expect((await create(headers)).code).toBe(code);
  });
});

describe("the permission of a new file", () => {
  const given = { "x-ms-file-permission": sddl };

  it("is not marked as inherited, so that it has another key than the one that was sent", async () => {
    const { headers: stored } = await expectDone(
      put(permissions, {}, JSON.stringify({ permission: sddl })),
    );
    const key = stored[keyHeader] ?? "";
    const byKey = { [keyHeader]: key };
    const created = [
      await expectDone(create(given)),
      await expectDone(create(byKey)),
      await expectDone(put(directory, given)),
    ].map(({ headers }) => headers[keyHeader]);
    expect(new Set(created).size).toBe(1);
    expect(created[0]).not.toBe(key);
    expect(await permissionOf(created[0], "sddl")).toBe(
      `${sddl.replace("D:AI", "D:")}S:NO_ACCESS_CONTROL`,
    );
    for (const headers of [given, byKey]) {
      const set = await expectDone(put(`${directory}&comp=properties`, headers));
      expect(set.headers[keyHeader]).toBe(key);
      expect((await expectDone(setProperties(headers))).headers[keyHeader]).toBe(key);
    }
  });

  // Recorded in 2021; the test of the newest Go library expects it at 2026-06-06.
  it.each(["2021-06-08", "2026-06-06", "2026-12-06"])(
    "is replaced by Set Directory Properties with the same text, version %s",
    async (version) => {
      const sent = { ...given, "x-ms-version": version };
      const created = await expectDone(put(directory, sent));
      const keys: (string | undefined)[] = [];
      for (let count = 0; count < 2; count += 1) {
        const set = await expectDone(put(`${directory}&comp=properties`, sent));
        keys.push(set.headers[keyHeader]);
      }
      expect(keys[0]).not.toBe(created.headers[keyHeader]);
      expect(keys[1]).toBe(keys[0]);
    },
  );

  it("has no generic rights", async () => {
    const generic = "O:BAG:BAD:(A;;GA;;;BA)(A;OICIIO;GA;;;BA)";
    const { headers } = await expectDone(create({ "x-ms-file-permission": generic }));
    expect(await permissionOf(headers[keyHeader], "sddl")).toBe(
      "O:BAG:BAD:(A;;FA;;;BA)(A;OICIIO;GA;;;BA)S:NO_ACCESS_CONTROL",
    );
  });

  it("is the one that was sent if the file is restored", async () => {
    const restore = { "x-ms-version": "2026-06-06", "x-ms-file-property-semantics": "Restore" };
    const { headers } = await expectDone(create({ ...given, ...restore }));
    expect(await permissionOf(headers[keyHeader], "sddl")).toBe(`${sddl}S:NO_ACCESS_CONTROL`);
  });
});

describe("Copy File with the permission mode override", () => {
  const copy = (headers: Headers) =>
    put("/share/copy", {
      "x-ms-copy-source": signedUrl(path),
      "x-ms-file-permission-copy-mode": "override",
      ...headers,
    });

  it("needs a permission", async () => {
    await newFile(world, path, "text");
    const refused = await copy({});
    expect([refused.status, refused.code]).toEqual([400, "MissingRequiredHeader"]);
    expect((await copy({ "x-ms-file-permission": sddl })).status).toBe(202);
  });
});

describe("shares", () => {
  it("Snapshot Share ignores the parameter sharesnapshot", async () => {
    const target = "/share?restype=share&comp=snapshot&sharesnapshot=";
    const first = await put(`${target}2023-03-31+20%3A00%3A00+%2B0000+UTC`);
    expect(first.status).toBe(201);
    const at = encodeURIComponent(first.headers["x-ms-snapshot"] ?? "");
    expect((await put(`${target}${at}`)).status).toBe(201);
  });

  it("a share can be deleted again while the service still deletes it", async () => {
    const remove = () => world.send({ method: "DELETE", path: "/share?restype=share" });
    expect((await remove()).status).toBe(202);
    expect((await remove()).status).toBe(202);
    world.clock.advance(31_000);
    expect((await remove()).code).toBe("ShareNotFound");
  });

  it("List Shares shows the access to snapshots of NFS shares", async () => {
    const access = "x-ms-enable-snapshot-virtual-directory-access";
    await put("/nfs?restype=share", { "x-ms-enabled-protocols": "NFS", [access]: "true" });
    const { body } = await world.send({ method: "GET", path: "/?comp=list" });
    expect(body).toContain(
      "<EnableSnapshotVirtualDirectoryAccess>true</EnableSnapshotVirtualDirectoryAccess>",
    );
  });
});

describe("owner and mode of a copy in an NFS share", () => {
  const given = { "x-ms-owner": "999", "x-ms-group": "888", "x-ms-mode": "0111" };
  const other = { "x-ms-owner": "54321", "x-ms-group": "12345", "x-ms-mode": "7777" };
  const usual = { "x-ms-owner": "0", "x-ms-group": "0", "x-ms-mode": "0664" };
  const modes = (mode: string) => ({
    "x-ms-file-owner-copy-mode": mode,
    "x-ms-file-mode-copy-mode": mode,
  });

  it.each([
    ["are those of a new file without copy modes", {}, usual],
    ["are those of the source", modes("source"), given],
    ["are those of the request", { ...modes("override"), ...other }, other],
  ])("%s", async (_what, headers, expected) => {
    const version = { "x-ms-version": "2025-05-05" };
    await expectDone(put("/nfs?restype=share", { "x-ms-enabled-protocols": "NFS" }));
    await expectDone(
      put("/nfs/a", { ...version, "x-ms-type": "file", "x-ms-content-length": "4", ...given }),
    );
    const source = { "x-ms-copy-source": signedUrl("/nfs/a") };
    await expectDone(put("/nfs/b", { ...version, ...source, ...headers }));
    const found = await world.send({ method: "HEAD", path: "/nfs/b", headers: version });
    expect(found.headers).toMatchObject(expected);
  });
});

describe("x-ms-enable-smb-directory-lease of a share", () => {
  const name = "x-ms-enable-smb-directory-lease";

  it.each([
    ["true by default", "2026-06-06", {}, "true"],
    ["that of the request", "2026-06-06", { [name]: "false" }, "false"],
    ["absent in older versions", "2022-11-02", {}, undefined],
    ["absent for NFS", "2026-06-06", { "x-ms-enabled-protocols": "NFS" }, undefined],
  ])("is %s", async (_what, version, headers, expected) => {
    const versioned = { "x-ms-version": version };
    const target = "/leases?restype=share";
    await expectDone(put(target, { ...versioned, ...headers }));
    const found = await world.send({ method: "GET", path: target, headers: versioned });
    expect(found.headers[name]).toBe(expected);
  });
});
