import { splitPath } from "../tree/find-path.ts";
import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { invalidHeader, invalidQuery, missingHeader } from "../../protocol/faults.ts";
import { header, integer, isHeaderText, query, text, type Param } from "../../protocol/params.ts";
import { leaseSeconds, parseLeaseId } from "../../protocol/lease.ts";
import { checkMetadata, type HttpHeaders, type Metadata } from "../../protocol/metadata.ts";
import { parseAcl, parsePermissions, parseUmask, type AclEntry } from "../../protocol/posix-acl.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { decodePercent } from "../../protocol/names.ts";

/** Parsers of the headers and query parameters of the Data Lake API, for the operations in this
 *  folder. */

/** `x-ms-properties`: metadata in one header, as `name=base64,name=base64`. Undefined if the header
 *  is absent. */
export const properties: Param<Metadata | undefined> = {
  sources: ["x-ms-properties"],
  parse: (reader) => {
    const given = reader.header("x-ms-properties");
    if (given === undefined) return ok(undefined);
    return given.trim() === "" ? ok([]) : parseProperties(given);
  },
};

function parseProperties(given: string): Result<Metadata> {
  const pairs: (readonly [string, string])[] = [];
  for (const item of given.split(",")) {
    const equals = item.indexOf("=");
    const name = (equals < 0 ? item : item.slice(0, equals)).trim();
    const bytes = equals < 0 ? undefined : decodeBase64(item.slice(equals + 1).trim());
    // One character for each byte, the form in which the Blob API stores metadata.
    const value = bytes && Buffer.from(bytes).toString("latin1");
    if (value === undefined || !isHeaderText(value)) return invalidHeader("x-ms-properties", given);
    pairs.push([name, value]);
  }
  return checkMetadata(pairs);
}

/** Like `properties`, for new containers and paths: an absent header means no metadata. */
export const newProperties: Param<Metadata> = {
  sources: properties.sources,
  parse: (reader) => {
    const parsed = properties.parse(reader);
    return parsed.ok ? ok(parsed.value ?? []) : parsed;
  },
};

export function formatProperties(metadata: Metadata): string {
  return metadata
    .map(([name, value]) => `${name}=${encodeBase64(Buffer.from(value, "latin1"))}`)
    .join(",");
}

const headerNames = {
  contentType: "x-ms-content-type",
  contentEncoding: "x-ms-content-encoding",
  contentLanguage: "x-ms-content-language",
  cacheControl: "x-ms-cache-control",
  contentDisposition: "x-ms-content-disposition",
} as const;

const md5Header = "x-ms-content-md5";

/** The content headers that the request sets; fields of the other headers are missing, so that a
 *  spread keeps the stored values. */
export const contentHeaders: Param<HttpHeaders> = {
  sources: [...Object.values(headerNames), md5Header],
  parse: (reader) => {
    const given: { -readonly [K in keyof HttpHeaders]: HttpHeaders[K] } = {};
    for (const [field, name] of Object.entries(headerNames)) {
      const value = reader.header(name);
      if (value) given[field as keyof typeof headerNames] = value;
    }
    const md5 = reader.header(md5Header);
    if (!md5) return ok(given);
    const contentMd5 = decodeBase64(md5);
    return contentMd5 === undefined ? fail("InvalidMd5") : ok({ ...given, contentMd5 });
  },
};

function textHeader<T>(
  name: string,
  parse: (value: string) => T | undefined,
  malformed: (value: string) => Result<never>,
): Param<T | undefined> {
  return {
    sources: [name],
    parse: (reader) => {
      const value = reader.header(name);
      if (value === undefined || value === "") return ok(undefined);
      const parsed = parse(value);
      return parsed === undefined ? malformed(value) : ok(parsed);
    },
  };
}

export const permissions = textHeader("x-ms-permissions", parsePermissions, () =>
  fail("InvalidPermission"),
);
export const umask = textHeader("x-ms-umask", parseUmask, (value) =>
  invalidHeader("x-ms-umask", value),
);
export const acl: Param<readonly AclEntry[] | undefined> = textHeader("x-ms-acl", parseAcl, () =>
  fail("InvaldAccessControlList"),
);

/** Longest name of an owner or group, in UTF-16 code units; a longer one is a fault. */
const principalUnitsMax = 256;

/** The name of an owner or group: printable ASCII without spaces; undefined for any other text. */
function principalName(value: string): string | undefined {
  return value.length <= principalUnitsMax && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
}

/** The owner and the owning group that a request sets, as object ids or names. */
export const owner = header("x-ms-owner", principalName);
export const group = header("x-ms-group", principalName);

/** Largest position in a request of Append Data or Flush Data: 8 TiB, more than a file may have. */
const positionMax = 8 * 1024 ** 4;

export const position = query("position", integer(0, positionMax));

/** The lease that a request creates together with a path, or with a write. */
interface NewLease {
  readonly id: string;
  readonly seconds: number;
}

export const newLease: Param<NewLease | undefined> = {
  sources: ["x-ms-proposed-lease-id", "x-ms-lease-duration"],
  parse: (reader) => {
    const id = parseLeaseId(reader, "x-ms-proposed-lease-id");
    if (!id.ok) return id;
    const duration = reader.header("x-ms-lease-duration");
    if (id.value === undefined && !duration) return ok(undefined);
    if (id.value === undefined) return missingHeader("x-ms-proposed-lease-id");
    if (!duration) return missingHeader("x-ms-lease-duration");
    const seconds = leaseSeconds(duration, "blob");
    if (seconds === undefined) return invalidHeader("x-ms-lease-duration", duration);
    return ok({ id: id.value, seconds });
  },
};

const encryptionContextUnitsMax = 1024;

export const encryptionContext = header("x-ms-encryption-context", (value) =>
  value.length <= encryptionContextUnitsMax ? value : undefined,
);

/** Accepted and ignored: this server does not look up the names of users. */
export const upn = query("upn", text);

const resultsMax = 2_147_483_647;

/** The parameter `maxResults`: the most entries that the client accepts in one page. A larger
 *  number than the service returns means the service's limit. */
export const maxResults: Param<number | undefined> = {
  sources: ["?maxResults"],
  parse: (reader) => {
    const given = reader.query("maxresults");
    if (given === undefined || given === "") return ok(undefined);
    if (!/^-?\d{1,16}$/.test(given)) return invalidQuery("maxResults", given);
    const number = Number(given);
    const isAllowed = number >= 1 && number <= resultsMax;
    return isAllowed ? ok(number) : fail("OutOfRangeQueryParameterValue");
  },
};

const transactionIdUnitsMax = 128;

export const transactionIdHeader = "x-ms-client-transaction-id";

/** The client's id of a transaction, for its own use: stored with the path that the request creates
 *  or renames, and returned by reads. */
export const transactionId = header(transactionIdHeader, (value) =>
  value.length <= transactionIdUnitsMax ? value : undefined,
);

const renameSourceHeader = "x-ms-rename-source";

/** The name that the source gets in the destination, if that is a directory. Undefined in the mode
 *  `legacy`, in which the source takes the place of the directory. */
export const entryName: Param<string | undefined> = {
  role: "entry-name",
  sources: ["?mode"],
  parse: (reader) => {
    const mode = (reader.query("mode") || "posix").toLowerCase();
    if (mode === "legacy") return ok(undefined);
    if (mode !== "posix") return invalidQuery("mode", mode);
    const [path = ""] = (reader.header(renameSourceHeader) ?? "").split("?");
    return ok((splitPath(decodePercent(path) ?? "").at(-1) ?? "") || undefined);
  },
};

/** The first segment of the source of a rename. If it is the name of the account, the URL of the
 *  request may lack the account (`loadNamed` in `blob/resources.ts`). */
export const sourceStart: Param<string | undefined> = {
  role: "source-start",
  sources: [renameSourceHeader],
  parse: (reader) => ok(/^\/?([^/?]*)/.exec(reader.header(renameSourceHeader) ?? "")?.[1]),
};
