import { beforeEach, describe, expect, it } from "vitest";
import {
  expectDone,
  namesIn,
  newDirectory,
  newFile,
  newShare,
  signedUrl,
} from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

let world: SimFile;

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
});

function rename(from: string, to: string, headers: Readonly<Record<string, string>> = {}) {
  return world.send({
    method: "PUT",
    path: `${to}?comp=rename`,
    headers: { "x-ms-file-rename-source": signedUrl(from), ...headers },
  });
}

function renameDirectory(from: string, to: string) {
  const headers = { "x-ms-file-rename-source": signedUrl(from) };
  const path = `${to}?restype=directory&comp=rename`;
  return world.send({ method: "PUT", path, headers });
}

describe("6 names", () => {
  it("keep their case and are found in any case", async () => {
    await newDirectory(world, "/share/Größe");
    await newFile(world, "/share/Größe/ReadMe.TXT", "hello");
    expect((await world.send({ method: "GET", path: "/share/GRÖßE/readme.txt" })).body).toBe(
      "hello",
    );
    const listed = await namesIn(world, "/share/gRößE");
    expect(listed).toEqual(["ReadMe.TXT"]);
  });

  it("lose trailing dots unless the request disables it", async () => {
    await newFile(world, "/share/f..");
    expect(await namesIn(world, "/share")).toEqual(["f"]);
    const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
    const keeps = { ...headers, "x-ms-allow-trailing-dot": "true" };
    await expectDone(world.send({ method: "PUT", path: "/share/f..", headers: keeps }));
    expect(await namesIn(world, "/share")).toEqual(["f", "f.."]);
  });

  const bad = [
    ["/share/a:b", "InvalidResourceName"],
    ["/share/a%7Cb", "InvalidResourceName"],
    ["/share/CON", "InvalidResourceName"],
    [`/share/${"x".repeat(256)}`, "InvalidFileOrDirectoryPathName"],
    [`/share/${"d/".repeat(251)}f`, "InvalidFileOrDirectoryPathName"],
    ["/share/missing/f", "ParentNotFound"],
    ["/nothere/f", "ShareNotFound"],
    ["/UPPER/f", "InvalidResourceName"],
  ] as const;
  it.each(bad)("rejects %s", async (path, code) => {
    const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
    expect((await world.send({ method: "PUT", path, headers })).code).toBe(code);
    expect(await namesIn(world, "/share")).toEqual([]);
  });
});

describe("6 listings", () => {
  const listed = async (more = "", headers = {}): Promise<string> => {
    const path = `/share?restype=directory&comp=list${more}`;
    return (await expectDone(world.send({ method: "GET", path, headers }))).body;
  };

  it("return the current properties of each file, also after cached responses", async () => {
    await newFile(world, "/share/a", "four");
    await newFile(world, "/share/b", "sixsix");
    expect(await listed()).toMatch(
      /<Name>a<.*>4<\/Content-Length>.*<Name>b<.*>6<\/Content-Length>/,
    );
    expect(await listed()).toBe(await listed());
    const headers = { "x-ms-content-length": "9" };
    const path = "/share/a?comp=properties";
    await expectDone(world.send({ method: "PUT", path, headers }));
    expect(await listed()).toMatch(
      /<Name>a<.*>9<\/Content-Length>.*<Name>b<.*>6<\/Content-Length>/,
    );
    await expectDone(world.send({ method: "DELETE", path: "/share/a" }));
    expect(await listed()).not.toContain("<Name>a<");
  });

  it("return the fields that each request includes", async () => {
    await newFile(world, "/share/a", "four");
    expect(await listed()).not.toContain("<Etag>");
    expect(await listed("&include=Etag")).toContain("<Etag>");
    expect(await listed("&include=Timestamps")).toContain("<LastWriteTime>");
    expect(await listed("&include=Timestamps")).not.toContain("<Etag>");
    expect(await listed("", { "x-ms-version": "2019-12-12" })).not.toContain("<FileId>");
    expect(await listed()).toContain("<FileId>");
  });
});

describe("6 kinds", () => {
  it("a file is not found as a directory, nor replaced by one, and vice versa", async () => {
    await newDirectory(world, "/share/d");
    await newFile(world, "/share/f", "x");
    const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
    const codes = [
      await world.send({ method: "GET", path: "/share/d" }),
      await world.send({ method: "GET", path: "/share/f?restype=directory" }),
      await world.send({ method: "DELETE", path: "/share/f?restype=directory" }),
      await world.send({ method: "PUT", path: "/share/d", headers }),
      await world.send({ method: "PUT", path: "/share/f?restype=directory" }),
    ].map(({ code }) => code);
    const missing = "ResourceNotFound";
    const taken = "ResourceTypeMismatch";
    expect(codes).toEqual([missing, missing, missing, taken, taken]);
    expect(await namesIn(world, "/share")).toEqual(["d", "f"]);
  });
});

describe("6 bad input", () => {
  const calls: readonly (readonly [string, string, Readonly<Record<string, string>>, string])[] = [
    ["PUT", "/share/f", { "x-ms-type": "file" }, "MissingRequiredHeader"],
    ["PUT", "/share/f", { "x-ms-type": "file", "x-ms-content-length": "-1" }, "OutOfRangeInput"],
    [
      "PUT",
      "/share/f",
      { "x-ms-type": "file", "x-ms-content-length": String(5 * 1024 ** 4) },
      "InvalidHeaderValue",
    ],
    [
      "PUT",
      "/share/f",
      { "x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-attributes": "Shiny" },
      "InvalidHeaderValue",
    ],
    [
      "PUT",
      "/share/f",
      { "x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-permission": "nonsense" },
      "FileInvalidPermission",
    ],
    ["PUT", "/share/g?comp=range", { "x-ms-write": "update" }, "MissingRequiredHeader"],
    [
      "PUT",
      "/share/g?comp=range",
      { "x-ms-write": "clear", "x-ms-range": "bytes=0-100" },
      "InvalidRange",
    ],
    ["PUT", "/share/g?comp=range", { "x-ms-write": "clear" }, "MissingRequiredHeader"],
    ["GET", "/share?restype=directory&comp=list&maxresults=0", {}, "OutOfRangeQueryParameterValue"],
    ["GET", "/share?restype=directory&comp=list&marker=nonsense", {}, "OutOfRangeInput"],
    ["GET", "/share?restype=directory&comp=list&include=x", {}, "InvalidQueryParameterValue"],
    ["DELETE", "/share?restype=directory", {}, "InvalidResourceName"],
    [
      "PUT",
      "/share?restype=share&comp=properties",
      { "x-ms-share-quota": "0" },
      "InvalidHeaderValue",
    ],
    [
      "PUT",
      "/share/g?comp=copy&copyid=x",
      { "x-ms-copy-action": "abort" },
      "InvalidQueryParameterValue",
    ],
    ["PUT", "/share/g?comp=forceclosehandles", { "x-ms-handle-id": "x" }, "InvalidHeaderValue"],
    ["GET", "/share?restype=share&comp=nonsense", {}, "InvalidQueryParameterValue"],
    ["GET", "/share/g?sharesnapshot=yesterday", {}, "InvalidQueryParameterValue"],
  ];
  it.each(calls)("%s %s %o gets its own error code", async (method, path, headers, code) => {
    await newFile(world, "/share/g", "0123456789");
    const answer = await world.send({ method, path, headers });
    expect(answer.code).toBe(code);
    expect((await world.send({ method: "GET", path: "/share/g" })).body).toBe("0123456789");
    expect(await namesIn(world, "/share")).toEqual(["g"]);
  });
});

describe("6 rename", () => {
  it("moves a tree up or down, never into itself", async () => {
    await newDirectory(world, "/share/a");
    await newDirectory(world, "/share/a/b");
    await newFile(world, "/share/a/b/f", "deep");
    expect((await renameDirectory("/share/a", "/share/a/b/c")).code).toBe("InvalidInput");
    expect((await renameDirectory("/share/a/b", "/share/top")).status).toBe(200);
    expect((await world.send({ method: "GET", path: "/share/top/f" })).body).toBe("deep");
    expect(await namesIn(world, "/share/a")).toEqual([]);
    expect((await renameDirectory("/share/top", "/share/TOP")).status).toBe(200);
    expect(await namesIn(world, "/share")).toEqual(["a", "TOP"]);
  });

  it("replaces a target only on request and releases its bytes", async () => {
    await newFile(world, "/share/f", "new");
    await newFile(world, "/share/g", "older");
    expect((await rename("/share/f", "/share/g")).code).toBe("ResourceAlreadyExists");
    const headers = { "x-ms-file-rename-replace-if-exists": "true" };
    expect((await rename("/share/f", "/share/g", headers)).status).toBe(200);
    expect((await world.send({ method: "GET", path: "/share/g" })).body).toBe("new");
    const stats = await world.send({ method: "GET", path: "/share?restype=share&comp=stats" });
    expect(stats.body).toContain("<ShareUsageBytes>3</ShareUsageBytes>");
  });

  it("keeps id, bytes and lease of the file", async () => {
    await newFile(world, "/share/f", "text");
    const before = await world.send({ method: "HEAD", path: "/share/f" });
    await expectDone(rename("/share/f", "/share/h"));
    const after = await world.send({ method: "HEAD", path: "/share/h" });
    expect(after.headers["x-ms-file-id"]).toBe(before.headers["x-ms-file-id"]);
    expect((await world.send({ method: "HEAD", path: "/share/f" })).status).toBe(404);
  });
});
