import { describe, it } from "vitest";
import {
  abc,
  archived,
  block,
  blockBlob,
  from,
  home,
  onPage,
  prove,
  put,
  snapshot,
  version,
  write,
  type Fact,
} from "../harness/blob-facts.ts";

const cool = { "x-ms-access-tier": "Cool" };
const archive = { "x-ms-access-tier": "Archive" };
const properties = "/?restype=service&comp=properties";
const policies = (policy: string) =>
  `<StorageServiceProperties><DeleteRetentionPolicy>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
const find = (where: string, path = "/?") => ({
  method: "GET",
  path: `${path}comp=blobs&where=${encodeURIComponent(where)}`,
});

const namespace: readonly Fact[] = [
  {
    title: "Set Blob Expiry on a flat account",
    given: blockBlob,
    call: put("/abc/b?comp=expiry", { "x-ms-expiry-option": "NeverExpire" }),
    status: 400,
    code: "HierarchicalNamespaceNotEnabled",
  },
  {
    title: "the access control list of a container on a flat account",
    call: { method: "HEAD", path: "/abc/?action=getAccessControl&upn=false" },
    status: 400,
    code: "HierarchicalNamespaceNotEnabled",
  },
  {
    title: "the same without the slash",
    call: { method: "HEAD", path: "/abc?action=getAccessControl" },
    status: 400,
    code: "HierarchicalNamespaceNotEnabled",
  },
  {
    title: "the access control list of a blob on a flat account",
    given: blockBlob,
    call: { method: "HEAD", path: "/abc/b?action=getAccessControl" },
    status: 400,
    code: "HierarchicalNamespaceNotEnabled",
  },
];

const source = (title: string, status: number, code: string, call: Fact["call"]): Fact => ({
  title: `${title} from an archived blob`,
  given: async (blob) => {
    await archived(blob);
    await write(blob, put("/abc/a", { "x-ms-blob-type": "AppendBlob" }));
    const created = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };
    await write(blob, put("/abc/p", created));
  },
  call,
  status,
  code,
});

const tiers: readonly Fact[] = [
  {
    title: "leaving the archive as a snapshot",
    given: async (blob) => {
      await blockBlob(blob);
      const taken = await snapshot(blob);
      await write(blob, put(`/abc/b?comp=tier&snapshot=${taken.snapshot}`, archive));
      return taken;
    },
    call: put("/abc/b?comp=tier&snapshot={snapshot}", cool),
    status: 409,
    code: "BlobOperationNotSupported",
  },
  {
    title: "leaving the archive as an earlier version",
    settings: { versioning: true },
    given: async (blob) => {
      const taken = await version(blob);
      await write(blob, put(`/abc/b?comp=tier&versionid=${taken.version}`, archive));
      return taken;
    },
    call: put("/abc/b?comp=tier&versionid={version}", cool),
    status: 409,
    code: "BlobOperationNotSupported",
  },
  source("Copy Blob", 409, "BlobArchived", put("/abc/c", from)),
  source("Copy Blob to the archive", 409, "BlobArchived", put("/abc/c", { ...from, ...archive })),
  source(
    "Copy Blob From URL",
    409,
    "CannotVerifyCopySource",
    put("/abc/c", { ...from, "x-ms-requires-sync": "true" }),
  ),
  source("Put Blob From URL", 409, "CannotVerifyCopySource", put("/abc/c", { ...block, ...from })),
  source(
    "Put Block From URL",
    409,
    "CannotVerifyCopySource",
    put("/abc/c?comp=block&blockid=YQ==", from),
  ),
  source(
    "Append Block From URL",
    409,
    "CannotVerifyCopySource",
    put("/abc/a?comp=appendblock", from),
  ),
  source(
    "Put Page From URL",
    409,
    "CannotVerifyCopySource",
    put("/abc/p?comp=page", { ...onPage, ...from }),
  ),
  {
    title: "Copy Blob from an archived blob to a tier that is online",
    given: archived,
    call: put("/abc/c", { ...from, ...cool }),
    status: 202,
  },
];

const others: readonly Fact[] = [
  {
    title: "both checksums of a range",
    given: blockBlob,
    call: {
      method: "GET",
      path: "/abc/b",
      headers: {
        range: "bytes=0-1",
        "x-ms-range-get-content-md5": "true",
        "x-ms-range-get-content-crc64": "true",
      },
    },
    status: 400,
    code: "BothCrc64AndMd5RangeHeaderPresent",
  },
  {
    title: "HEAD with an encryption algorithm and no key",
    given: blockBlob,
    call: { method: "HEAD", path: "/abc/b", headers: { "x-ms-encryption-algorithm": "AES256" } },
    status: 200,
  },
  {
    title: "Put Blob with an encryption algorithm and no key",
    call: put("/abc/b", { ...block, "x-ms-encryption-algorithm": "AES256" }, abc),
    status: 400,
    code: "MissingRequiredHeader",
  },
  {
    title: "an empty DeleteRetentionPolicy",
    call: put(properties, {}, policies("")),
    status: 400,
    code: "InvalidXmlDocument",
    body: "<Reason />",
  },
  {
    title: "Restore Container without a name",
    call: put("/xyz?restype=container&comp=undelete", { "x-ms-deleted-container-version": "1" }),
    status: 400,
    code: "MissingRequiredHeader",
  },
  {
    title: "Restore Container without a name in its path either",
    call: put("/?restype=container&comp=undelete", { "x-ms-deleted-container-version": "1" }),
    status: 400,
    code: "MissingRequiredHeader",
  },
  {
    title: "a relative source since 2012-02-12",
    given: blockBlob,
    call: put("/abc/c", {
      "x-ms-version": "2012-02-12",
      "x-ms-copy-source": "/devstoreaccount1/abc/b",
    }),
    status: 400,
    code: "InvalidHeaderValue",
  },
  {
    title: "a relative source before 2012-02-12",
    given: blockBlob,
    call: put("/abc/c", {
      "x-ms-version": "2011-08-18",
      "x-ms-copy-source": "/devstoreaccount1/abc/b",
    }),
    status: 202,
  },
  {
    title: "a preflight without a method",
    call: { method: "OPTIONS", path: "/abc", headers: { origin: home } },
    status: 400,
    code: "InvalidHeaderValue",
  },
  ...["a-b = 'c'", "a = 'b!'", `${"x".repeat(129)} = 'a'`, `a = '${"x".repeat(257)}'`].map(
    (where): Fact => ({
      title: `Find Blobs by Tags ${where}`,
      call: find(where),
      status: 400,
      code: "InvalidQueryParameterValue",
    }),
  ),
  {
    title: "Find Blobs by Tags with eleven conditions",
    call: find(Array.from({ length: 11 }, (_, index) => `t${index} = 'v'`).join(" AND ")),
    status: 400,
    code: "InvalidQueryParameterValue",
  },
  {
    title: "Find Blobs by Tags of a container that names one",
    call: find("@container = 'abc' AND a = 'b'", "/abc?restype=container&"),
    status: 400,
    code: "InvalidQueryParameterValue",
  },
];

describe("recorded errors of the blob service", () => {
  it.each([...namespace, ...tiers, ...others])("$title", prove);
});
