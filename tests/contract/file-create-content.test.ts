import { createHash, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { Right, shareRead } from "../../src/file/locks/access.ts";
import { newShare } from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";
import { frame, structuredForm, structuredHeaders } from "../harness/structured-body.ts";

let world: SimFile;
const path = "/share/file";
const bytesMax = 4 * 1024 * 1024;

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
});

function create(
  length: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
) {
  const own = {
    "x-ms-version": "2026-06-06",
    "x-ms-type": "file",
    "x-ms-content-length": String(length),
  };
  return world.send({ method: "PUT", path, headers: { ...own, ...headers }, body });
}

const get = (headers: Readonly<Record<string, string>> = {}) =>
  world.send({ method: "GET", path, headers });

const md5 = (bytes: string | Buffer) => createHash("md5").update(bytes).digest("base64");

describe("Create File with content", () => {
  it.each(["hello", "x".repeat(300), "y".repeat(100_000)])("stores it (%#)", async (text) => {
    const created = await create(text.length, text);
    expect([created.status, created.headers["content-md5"]]).toEqual([201, md5(text)]);
    expect((await get()).body).toBe(text);
  });

  it.each(["2026-02-06", "2026-12-06"])("exists in version %s", async (version) => {
    await create(5, "hello", { "x-ms-version": version });
    expect((await get()).body).toBe("hello");
  });

  it("fills the rest of the file with zeros, as unwritten ranges", async () => {
    await create(1024, "hello");
    expect((await get()).body).toBe(`hello${"\0".repeat(1019)}`);
    const { body } = await world.send({ method: "GET", path: `${path}?comp=rangelist` });
    expect(body).toContain("<Range><Start>0</Start><End>511</End></Range></Ranges>");
  });

  it.each([
    ["no body", "", {}],
    ["no body and no length", "", { "content-length": undefined }],
  ])("needs none: %s", async (_title, body, headers) => {
    const created = await create(3, body, headers as Record<string, string>);
    expect([created.status, created.headers["content-md5"]]).toEqual([201, undefined]);
    expect((await get()).body).toBe("\0\0\0");
  });

  it("takes properties and metadata of the same request", async () => {
    await create(5, "hello", {
      "x-ms-content-type": "text/plain",
      "x-ms-meta-a": "1",
      "x-ms-file-attributes": "Hidden",
      "x-ms-file-last-write-time": "2020-01-02T03:04:05.0000000Z",
    });
    expect((await get()).headers).toMatchObject({
      "content-type": "text/plain",
      "x-ms-meta-a": "1",
      "x-ms-file-attributes": "Hidden | Archive",
      "x-ms-file-last-write-time": "2020-01-02T03:04:05.0000000Z",
    });
  });

  it("replaces the whole content of an existing file", async () => {
    await create(20, "a".repeat(20));
    await create(10, "b");
    expect((await get()).body).toBe(`b${"\0".repeat(9)}`);
  });

  it("may be 4 MiB long", async () => {
    const bytes = randomBytes(bytesMax);
    expect((await create(bytesMax, bytes)).status).toBe(201);
    expect(Buffer.from((await get()).body, "latin1").equals(bytes)).toBe(true);
  });
});

const hello = Buffer.from("hello");

describe("rejected content leaves the existing file as it was", () => {
  it.each([
    ["longer than 4 MiB", bytesMax + 1, Buffer.alloc(bytesMax + 1), {}, 413, "RequestBodyTooLarge"],
    ["longer than the file", 4, hello, {}, 416, "InvalidRange"],
    ["with a wrong MD5", 5, hello, { "content-md5": md5("other") }, 400, "Md5Mismatch"],
    ["empty, with an MD5", 5, "", { "content-md5": md5("other") }, 400, "Md5Mismatch"],
    ["with a malformed MD5", 5, hello, { "content-md5": "x" }, 400, "InvalidMd5"],
    ["damaged", 5, frame([hello], "segment"), structuredHeaders(5), 400, "Crc64Mismatch"],
    ["of another length", 5, frame([hello]), structuredHeaders(4), 400, "InvalidInput"],
  ] as const)("%s", async (_title, length, body, headers, status, code) => {
    await create(6, "before");
    const refused = await create(length, body, headers);
    expect([refused.status, refused.code]).toEqual([status, code]);
    expect((await get()).body).toBe("before");
  });

  it("if an SMB client has the file open and does not share writing", async () => {
    await create(6, "before");
    const handle = await world.open("share", {
      path: ["file"],
      access: Right.readData,
      share: shareRead,
    });
    expect(typeof handle).toBe("object");
    const refused = await create(5, "hello");
    expect([refused.status, refused.code]).toEqual([409, "SharingViolation"]);
    expect((await get()).body).toBe("before");
  });

  it("if the file is leased to another client", async () => {
    await create(6, "before");
    const lease = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    await world.send({ method: "PUT", path: `${path}?comp=lease`, headers: lease });
    expect((await create(5, "hello")).code).toBe("LeaseIdMissing");
    expect((await get()).body).toBe("before");
  });
});

describe("structured bodies of files", () => {
  it("Create File stores the bytes without their checksums", async () => {
    const created = await create(10, frame([hello, hello]), structuredHeaders(10));
    expect([created.status, created.headers["x-ms-structured-body"]]).toEqual([
      201,
      structuredForm,
    ]);
    expect((await get()).body).toBe("hellohello");
  });

  it.each(["", "hello"])("Get File returns one of %j if asked", async (text) => {
    await create(text.length, text);
    const answer = await get({ "x-ms-structured-body": structuredForm });
    expect(Buffer.from(answer.body, "latin1")).toEqual(frame([Buffer.from(text)]));
    expect(answer.headers).toMatchObject({
      "x-ms-structured-body": structuredForm,
      "x-ms-structured-content-length": String(text.length),
    });
  });

  it("Get File returns one of a range, but not with the MD5 of a range", async () => {
    await create(5, "hello");
    const asked = { "x-ms-structured-body": structuredForm, "x-ms-range": "bytes=1-3" };
    const answer = await get(asked);
    expect(answer.status).toBe(206);
    expect(Buffer.from(answer.body, "latin1")).toEqual(frame([Buffer.from("ell")]));
    const plain = await get({ ...asked, "x-ms-range-get-content-md5": "true" });
    expect([plain.body, plain.headers["x-ms-structured-body"]]).toEqual(["ell", undefined]);
  });

  it("Get File rejects an unknown form", async () => {
    await create(5, "hello");
    expect((await get({ "x-ms-structured-body": "XSM/9.0" })).code).toBe("InvalidHeaderValue");
  });
});

describe("x-ms-file-property-semantics", () => {
  const permission = { "x-ms-file-permission": "O:SYG:SYD:(A;;FA;;;SY)" };
  const semantics = "x-ms-file-property-semantics";

  it.each([
    [{}, "Archive"],
    [{ [semantics]: "New" }, "Archive"],
    [{ [semantics]: "New", ...permission }, "Archive"],
    [{ [semantics]: "Restore" }, "Archive"],
    [{ [semantics]: "Restore", ...permission }, "None"],
    [{ [semantics]: "Restore", "x-ms-file-attributes": "Hidden", ...permission }, "Hidden"],
    [{ [semantics]: "Restore", "x-ms-version": "2025-11-05", ...permission }, "Archive"],
  ])("of a file with %j: %s", async (headers, attributes) => {
    const created = await create(5, "", headers);
    expect([created.status, created.headers["x-ms-file-attributes"]]).toEqual([201, attributes]);
  });

  const createDirectory = (headers: Readonly<Record<string, string>>) =>
    world.send({
      method: "PUT",
      path: "/share/directory?restype=directory",
      headers: { "x-ms-version": "2026-06-06", ...headers },
    });

  it("of a directory", async () => {
    const created = await createDirectory({ [semantics]: "Restore", ...permission });
    expect(created.headers["x-ms-file-attributes"]).toBe("Directory");
  });

  it("rejects other values", async () => {
    const refused = [
      await create(5, "", { [semantics]: "Other" }),
      await createDirectory({ [semantics]: "Other" }),
    ];
    for (const { status, code } of refused) {
      expect([status, code]).toEqual([400, "InvalidHeaderValue"]);
    }
  });
});
