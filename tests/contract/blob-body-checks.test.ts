import { describe, it } from "vitest";
import { crc64Bytes, crc64Of } from "../../src/content/body/checksums.ts";
import {
  abc,
  appendBlob,
  block,
  md5,
  onPage,
  page,
  pageBlob,
  prove,
  put,
  type Fact,
} from "../harness/blob-facts.ts";

const crc64Text = (text: string) =>
  Buffer.from(crc64Bytes(crc64Of(Buffer.from(text)))).toString("base64");
const crc64 = crc64Text(abc);
const wrongCrc64 = "AAAAAAAAAAA=";
const wrongMd5 = "AAAAAAAAAAAAAAAAAAAAAA==";

function upload(headers: Readonly<Record<string, string>>): Fact["call"] {
  return put("/abc/b", { ...block, ...headers }, abc);
}

/** `x-ms-blob-content-md5` is a property of the blob: client libraries send it beside the CRC64 of
 *  the body, and both are compared. */
const beside: readonly Fact[] = [
  {
    title: "x-ms-blob-content-md5 beside a CRC64",
    call: upload({ "x-ms-blob-content-md5": md5(abc), "x-ms-content-crc64": crc64 }),
    status: 201,
    headers: { "content-md5": md5(abc), "x-ms-content-crc64": crc64 },
  },
  {
    title: "x-ms-blob-content-md5 beside a wrong CRC64",
    call: upload({ "x-ms-blob-content-md5": md5(abc), "x-ms-content-crc64": wrongCrc64 }),
    status: 400,
    code: "Crc64Mismatch",
  },
  {
    title: "a wrong x-ms-blob-content-md5 beside a CRC64",
    call: upload({ "x-ms-blob-content-md5": wrongMd5, "x-ms-content-crc64": crc64 }),
    status: 400,
    code: "Md5Mismatch",
  },
  {
    title: "Content-MD5 beside a CRC64",
    call: upload({ "content-md5": md5(abc), "x-ms-content-crc64": crc64 }),
    status: 400,
    code: "BothCrc64AndMd5HeaderPresent",
  },
];

/** From 2026-10-06 on a write with an MD5 returns both checksums, before that the MD5 alone. */
const returned = ["2026-06-06", "2026-10-06"].flatMap((version): readonly Fact[] => {
  const sent = { "x-ms-version": version, "content-md5": md5(page) };
  const both = { "content-md5": md5(page), "x-ms-content-crc64": crc64Text(page) };
  const one = { "content-md5": md5(page), "x-ms-content-crc64": undefined };
  const expected = { status: 201, headers: version < "2026-10-06" ? one : both };
  return [
    {
      title: `${version}: the checksums of Put Block`,
      call: put("/abc/b?comp=block&blockid=YQ==", sent, page),
      ...expected,
    },
    {
      title: `${version}: the checksums of Append Block`,
      given: appendBlob,
      call: put("/abc/b?comp=appendblock", sent, page),
      ...expected,
    },
    {
      title: `${version}: the checksums of Put Page`,
      given: pageBlob,
      call: put("/abc/b?comp=page", { ...sent, ...onPage }, page),
      ...expected,
    },
  ];
});

/** Another spelling of 0: the body is known to be empty only after it was received. */
const late = { "content-length": "00" };

const empty: readonly Fact[] = [
  {
    title: "an empty body of Put Block",
    call: put("/abc/b?comp=block&blockid=YQ==", late),
    status: 400,
    code: "InvalidHeaderValue",
  },
  {
    title: "an empty body of Append Block",
    given: appendBlob,
    call: put("/abc/b?comp=appendblock", late),
    status: 400,
    code: "InvalidHeaderValue",
  },
  {
    title: "an empty body of Put Blob",
    call: put("/abc/b", { ...block, ...late }),
    status: 201,
  },
];

describe("the body of an upload", () => {
  it.each([...beside, ...returned, ...empty])("$title", prove);
});
