import { describe, it } from "vitest";
import { crc64Bytes, crc64Of } from "../../src/content/body/checksums.ts";
import {
  abc,
  appendBlob,
  block,
  blockBlob,
  from,
  home,
  list,
  md5,
  old,
  onPage,
  page,
  pageBlob,
  prove,
  put,
  snapshot,
  softDelete,
  uncommitted,
  version,
  write,
  type Fact,
} from "../harness/blob-facts.ts";
import type { SimBlob } from "../harness/sim-blob.ts";

const md5Alone = { "content-md5": md5(abc), "x-ms-content-crc64": undefined };

function crc64(text: string): string {
  return Buffer.from(crc64Bytes(crc64Of(Buffer.from(text)))).toString("base64");
}

const facts: readonly Fact[] = [
  {
    title: "Put Block before 2019-02-02 answers the MD5",
    call: put("/abc/b?comp=block&blockid=YQ==", old, abc),
    status: 201,
    headers: md5Alone,
  },
  {
    title: "Put Block List before 2019-02-02 answers the MD5",
    given: uncommitted,
    call: put("/abc/b?comp=blocklist", old, list),
    status: 201,
    headers: { "content-md5": md5(list), "x-ms-content-crc64": undefined },
  },
  {
    title: "Append Block before 2019-02-02 answers the MD5",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", old, abc),
    status: 201,
    headers: md5Alone,
  },
  {
    title: "Put Page before 2019-02-02 answers the MD5",
    given: pageBlob,
    call: put("/abc/b?comp=page", { ...old, ...onPage }, page),
    status: 201,
    headers: { "content-md5": md5(page), "x-ms-content-crc64": undefined },
  },
  {
    title: "Put Block From URL before 2019-02-02 answers the MD5",
    given: blockBlob,
    call: put("/abc/c?comp=block&blockid=YQ==", { ...old, ...from }),
    status: 201,
    headers: md5Alone,
  },
  {
    title: "Copy Blob From URL before 2019-02-02 answers the MD5",
    given: blockBlob,
    call: put("/abc/c", { ...old, ...from, "x-ms-requires-sync": "true" }),
    status: 202,
    headers: md5Alone,
  },
  {
    title: "Put Block since 2019-02-02 answers the CRC64 of a body without MD5",
    call: put("/abc/b?comp=block&blockid=YQ==", { "x-ms-version": "2019-02-02" }, abc),
    status: 201,
    headers: { "content-md5": undefined, "x-ms-content-crc64": crc64(abc) },
  },
  {
    title: "HEAD of a soft-deleted snapshot",
    given: async (blob) => {
      await blockBlob(blob);
      await softDelete(blob);
      const taken = await snapshot(blob);
      await write(blob, { method: "DELETE", path: `/abc/b?snapshot=${taken.snapshot}` });
      return taken;
    },
    call: { method: "HEAD", path: "/abc/b?snapshot={snapshot}" },
    status: 404,
    code: "BlobNotFound",
    headers: { "x-ms-is-soft-deleted": "true" },
  },
  {
    title: "HEAD of a soft-deleted version",
    settings: { versioning: true },
    given: async (blob) => {
      await softDelete(blob);
      const taken = await version(blob);
      await write(blob, { method: "DELETE", path: `/abc/b?versionid=${taken.version}` });
      return taken;
    },
    call: { method: "HEAD", path: "/abc/b?versionid={version}" },
    status: 404,
    code: "BlobNotFound",
    headers: { "x-ms-is-soft-deleted": "true" },
  },
  {
    title: "HEAD of a snapshot that never was",
    given: blockBlob,
    call: { method: "HEAD", path: "/abc/b?snapshot=2020-01-01T00:00:00.0000000Z" },
    status: 404,
    code: "BlobNotFound",
    headers: { "x-ms-is-soft-deleted": undefined },
  },
  {
    title: "a permanent delete while that is off",
    given: async (blob) => {
      await blockBlob(blob);
      await softDelete(blob);
      return snapshot(blob);
    },
    call: { method: "DELETE", path: "/abc/b?deletetype=permanent&snapshot={snapshot}" },
    status: 409,
    code: "PermanentDeleteIsOff",
  },
  {
    title: "Delete Blob with a version and x-ms-delete-snapshots",
    settings: { versioning: true },
    given: version,
    call: {
      method: "DELETE",
      path: "/abc/b?versionid={version}",
      headers: { "x-ms-delete-snapshots": "include" },
    },
    status: 400,
    code: "InvalidQueryParameterValue",
  },
  {
    title: "a backslash in a name is a slash",
    given: async (blob) => {
      await write(blob, put("/abc/d%5Ce", block, abc));
    },
    call: { method: "GET", path: "/abc/d/e" },
    status: 200,
  },
  {
    title: "Set Blob Properties without headers clears them",
    given: async (blob) => {
      await write(blob, put("/abc/b", { ...block, "x-ms-blob-cache-control": "no-store" }, abc));
      await write(blob, put("/abc/b?comp=properties"));
    },
    call: { method: "HEAD", path: "/abc/b" },
    status: 200,
    headers: { "cache-control": undefined, "content-md5": undefined },
  },
  {
    title: "a resize alone keeps the headers of a page blob",
    given: async (blob) => {
      const created = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };
      await write(blob, put("/abc/b", { ...created, "x-ms-blob-cache-control": "no-store" }));
      await write(blob, put("/abc/b?comp=properties", { "x-ms-blob-content-length": "1024" }));
    },
    call: { method: "HEAD", path: "/abc/b" },
    status: 200,
    headers: { "cache-control": "no-store", "content-length": "1024" },
  },
  {
    title: "x-ms-blob-content-md5 is believed before Content-MD5",
    call: put(
      "/abc/b",
      { ...block, "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==", "x-ms-blob-content-md5": md5(abc) },
      abc,
    ),
    status: 201,
    headers: { "content-md5": md5(abc) },
  },
  {
    title: "a wrong x-ms-blob-content-md5 beside a right Content-MD5",
    call: put(
      "/abc/b",
      { ...block, "content-md5": md5(abc), "x-ms-blob-content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" },
      abc,
    ),
    status: 400,
    code: "Md5Mismatch",
  },
  {
    title: "Abort Copy of a blob that is not there with a malformed id",
    call: put("/abc/none?comp=copy&copyid=x", { "x-ms-copy-action": "abort" }),
    status: 400,
    code: "InvalidQueryParameterValue",
  },
];

const future = "Wed, 01 Jan 2200 00:00:00 GMT";
const past = "Sat, 01 Jan 2000 00:00:00 GMT";

const conditions: readonly Fact[] = [
  {
    title: "Put Block List of uncommitted blocks alone, If-Modified-Since the future",
    given: uncommitted,
    call: put("/abc/b?comp=blocklist", { "if-modified-since": future }, list),
    status: 412,
    code: "ConditionNotMet",
  },
  {
    title: "Put Block List of uncommitted blocks alone, If-Unmodified-Since the past",
    given: uncommitted,
    call: put("/abc/b?comp=blocklist", { "if-unmodified-since": past }, list),
    status: 412,
    code: "ConditionNotMet",
  },
  {
    title: "Put Block List of uncommitted blocks alone, If-Modified-Since the past",
    given: uncommitted,
    call: put("/abc/b?comp=blocklist", { "if-modified-since": past }, list),
    status: 201,
  },
  {
    title: "Append Block with an If-Match number that is no time",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", { "if-match": "0x111111111111111" }, abc),
    status: 400,
    code: "OutOfRangeInput",
  },
  {
    title: "Append Block with an If-Match number that is a time",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", { "if-match": '"0x8D0000000000001"' }, abc),
    status: 412,
    code: "ConditionNotMet",
  },
  {
    title: "Append Block with an If-Match that is no number",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", { "if-match": "garbage" }, abc),
    status: 412,
    code: "ConditionNotMet",
  },
];

const blocks: readonly Fact[] = [
  {
    title: "a block id of another length than those of uncommitted blocks",
    given: uncommitted,
    call: put("/abc/b?comp=block&blockid=YWFhYWFh", {}, abc),
    status: 400,
    code: "InvalidBlobOrBlock",
  },
  {
    title: "a block id of another length than those of committed blocks",
    given: async (blob) => {
      const body = "x".repeat(5000);
      await write(blob, put("/abc/b?comp=block&blockid=YQ==", {}, body));
      await write(blob, put("/abc/b?comp=blocklist", {}, list));
    },
    call: put("/abc/b?comp=block&blockid=YWFhYWFh", {}, abc),
    status: 201,
  },
  {
    title: "Put Page without range and body",
    given: pageBlob,
    call: put("/abc/b?comp=page", { "x-ms-page-write": "update" }),
    status: 400,
    code: "MissingRequiredHeader",
  },
  {
    title: "Put Page with a range and no body",
    given: pageBlob,
    call: put("/abc/b?comp=page", onPage),
    status: 400,
    code: "InvalidHeaderValue",
  },
  {
    title: "Snapshot Blob with metadata",
    given: blockBlob,
    call: put("/abc/b?comp=snapshot", { "x-ms-meta-a": "b" }),
    status: 201,
    headers: { "x-ms-request-server-encrypted": "true" },
  },
  {
    title: "Snapshot Blob without metadata",
    given: blockBlob,
    call: put("/abc/b?comp=snapshot"),
    status: 201,
    headers: { "x-ms-request-server-encrypted": "false" },
  },
];

const withEmptyDisposition = async (blob: SimBlob) => {
  const empty = { "x-ms-blob-content-disposition": "", "x-ms-blob-cache-control": "" };
  await write(blob, put("/abc/b", { ...block, ...empty }, abc));
};
const withoutHeaders = async (blob: SimBlob) => {
  await write(blob, put("/abc/b", { ...block, "x-ms-blob-content-type": "text/plain" }, abc));
  await write(blob, put("/abc/b?comp=properties"));
};
const emptyDisposition = { "content-disposition": "", "cache-control": undefined };
const anyBlob = { "if-none-match": "*" };
const missingSource = { "x-ms-copy-source": `${home}/abc/missing` };
const sync = { "x-ms-requires-sync": "true" };
const algorithm = { "x-ms-encryption-algorithm": "AES256" };

const emptyHeaders: readonly Fact[] = (["GET", "HEAD"] as const).flatMap((method) => [
  {
    title: `${method} after Put Blob with empty headers: only Content-Disposition is returned`,
    given: withEmptyDisposition,
    call: { method, path: "/abc/b" },
    status: 200,
    headers: { ...emptyDisposition, "content-type": "application/octet-stream" },
  },
  {
    title: `${method} after Set Blob Properties without headers: no Content-Type`,
    given: withoutHeaders,
    call: { method, path: "/abc/b" },
    status: 200,
    headers: { "content-type": undefined },
  },
]);

/** `If-None-Match: *` on an existing blob. */
const anyMatches: readonly Fact[] = [
  {
    title: "Append Block ignores If-None-Match: *",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", anyBlob, abc),
    status: 201,
  },
  {
    title: "Append Block From URL with If-None-Match: * and a missing source",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", { ...anyBlob, ...missingSource }),
    status: 404,
    code: "CannotVerifyCopySource",
  },
  {
    title: "Put Page ignores If-None-Match: *",
    given: pageBlob,
    call: put("/abc/b?comp=page", { ...anyBlob, ...onPage }, page),
    status: 201,
  },
  {
    title: "Put Page From URL with If-None-Match: * and a missing source",
    given: pageBlob,
    call: put("/abc/b?comp=page", {
      ...anyBlob,
      ...onPage,
      ...missingSource,
      "x-ms-source-range": "bytes=0-511",
    }),
    status: 404,
    code: "CannotVerifyCopySource",
  },
  ...[sync, block].map((kind) => ({
    title: `a copy with ${Object.keys(kind).join()} and If-None-Match: * judges the source first`,
    given: blockBlob,
    call: put("/abc/b", { ...anyBlob, ...kind, ...missingSource }),
    status: 404,
    code: "CannotVerifyCopySource",
  })),
  ...[{}, sync, block].map((kind) => ({
    title: `a copy with ${Object.keys(kind).join()} of an existing source and If-None-Match: *`,
    given: blockBlob,
    call: put("/abc/b", { ...anyBlob, ...kind, ...from }),
    status: 409,
    code: "BlobAlreadyExists",
  })),
  ...[appendBlob, pageBlob].map((given) => ({
    title: `Copy Blob From URL of another type than a block blob: ${given.name}`,
    given,
    call: put("/abc/b", { ...anyBlob, ...sync, ...from }),
    status: 409,
    code: "CannotVerifyCopySource",
  })),
  {
    title: "Copy Blob of a block blob onto another type with If-None-Match: *",
    given: async (blob) => {
      await pageBlob(blob);
      await write(blob, put("/abc/source", block, abc));
    },
    call: put("/abc/b", { ...anyBlob, "x-ms-copy-source": `${home}/abc/source` }),
    status: 409,
    code: "InvalidBlobType",
  },
];

/** A failed condition of the target of Copy Blob. */
const copyConditions: readonly Fact[] = (
  [
    ["2021-06-08", "TargetConditionNotMet"],
    ["2026-06-06", "ConditionNotMet"],
  ] as const
).map(([api, code]) => ({
  title: `Copy Blob with a failed condition in ${api}: ${code}`,
  given: blockBlob,
  call: put("/abc/b", { ...from, "x-ms-version": api, "if-match": '"0x8D1234567890123"' }),
  status: 412,
  code,
}));

const algorithms: readonly Fact[] = ["2020-04-08", "2020-08-04"].map((api) => ({
  title: `Put Blob with an encryption algorithm and no key in ${api}`,
  call: put("/abc/b", { ...block, ...algorithm, "x-ms-version": api }, abc),
  status: 201,
  headers: { "x-ms-encryption-key-sha256": undefined },
}));

const accountInformation: readonly Fact[] = [
  "/abc",
  "/missing",
  "/abc/",
  "/abc/missing",
  "/missing/missing",
].map((path) => ({
  title: `Get Account Information on ${path}, also of an account with directories`,
  settings: { hierarchicalNamespace: path === "/missing" },
  call: { method: "GET", path: `${path}?restype=account&comp=properties` },
  status: 200,
  headers: { "x-ms-account-kind": "StorageV2" },
}));

const slashes: readonly Fact[] = (["PUT", "GET"] as const).map((method) => ({
  title: `${method} of a container with a slash and without restype`,
  call: { method, path: "/abc/" },
  status: 400,
  code: "InvalidUri",
  body: "<UriPath>http://127.0.0.1/devstoreaccount1/abc/</UriPath>",
}));

describe("recorded responses of the blob service", () => {
  it.each([...facts, ...conditions, ...blocks])("$title", prove);
  it.each([...emptyHeaders, ...anyMatches, ...copyConditions])("$title", prove);
  it.each([...algorithms, ...accountInformation, ...slashes])("$title", prove);
});
