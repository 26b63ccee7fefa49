import { done, failed, mapped, type Failure, type Result } from "../result.ts";
import { request, bodyText, type Answer } from "./request.ts";
import { escapeXml, parseXml, tagsOf } from "./xml.ts";

/** Address of a blob, optionally of one snapshot or version. */
export interface BlobAddress {
  readonly account: string;
  readonly container: string;
  readonly name: string;
  readonly snapshot?: string | undefined;
  readonly version?: string | undefined;
}

export interface BlobState {
  readonly etag: string;
  readonly lastModified: string;
  readonly length: number;
  readonly headers: Headers;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Response headers with the request headers that set them. Put Blob and Set Blob Properties
 *  replace all of them at once. */
export const contentHeaders: Readonly<Record<string, string>> = {
  "content-type": "x-ms-blob-content-type",
  "content-encoding": "x-ms-blob-content-encoding",
  "content-language": "x-ms-blob-content-language",
  "content-disposition": "x-ms-blob-content-disposition",
  "cache-control": "x-ms-blob-cache-control",
};

const metadataPrefix = "x-ms-meta-";

export function pathOf({
  account,
  container,
  name,
}: BlobAddress): readonly [string, string, string] {
  return [account, container, name];
}

export function stateQuery({ snapshot, version }: BlobAddress): Record<string, string | undefined> {
  return { snapshot, versionid: version };
}

export function metadataIn(headers: Headers): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name.startsWith(metadataPrefix)) metadata[name.slice(metadataPrefix.length)] = value;
  }
  return metadata;
}

function readState({ headers }: Answer): BlobState {
  const range = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  return {
    etag: headers.get("etag") ?? "",
    lastModified: headers.get("last-modified") ?? "",
    length: Number(range ?? headers.get("content-length") ?? 0),
    headers,
    metadata: metadataIn(headers),
  };
}

export async function getProperties(
  address: BlobAddress,
  signal?: AbortSignal,
): Promise<Result<BlobState>> {
  const query = stateQuery(address);
  return mapped(
    await request("blob", pathOf(address), { method: "HEAD", query, signal }),
    readState,
  );
}

interface BlobContent {
  readonly state: BlobState;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The first `bytesMax` bytes, with the ETag of the state they are from. */
export async function getContent(
  address: BlobAddress,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal?: AbortSignal | undefined },
): Promise<Result<BlobContent>> {
  const range = { "x-ms-range": `bytes=0-${bytesMax - 1}` };
  const call = { query: stateQuery(address), signal };
  let answer = await request("blob", pathOf(address), { ...call, headers: range });
  // A range of an empty blob is not satisfiable (416).
  if (!answer.ok && answer.failure.status === 416) {
    answer = await request("blob", pathOf(address), call);
  }
  if (!answer.ok) return answer;
  const bytes = new Uint8Array(answer.value.body);
  return { ok: true, value: { state: readState(answer.value), bytes } };
}

/** The last bytes of a state of the blob that has this length and ETag. */
export async function readBlobEnd(
  address: BlobAddress,
  wanted: {
    readonly length: number;
    readonly bytes: number;
    readonly etag: string;
    readonly signal: AbortSignal;
  },
): Promise<Result<Uint8Array<ArrayBuffer>>> {
  const { length, bytes, etag, signal } = wanted;
  const range = { "x-ms-range": `bytes=${length - bytes}-${length - 1}` };
  const headers = { ...range, "if-match": etag };
  const call = { query: stateQuery(address), headers, signal };
  const answer = await request("blob", pathOf(address), call);
  return answer.ok ? { ok: true, value: new Uint8Array(answer.value.body) } : answer;
}

export function metadataHeaders(
  metadata: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const pairs = Object.entries(metadata);
  return Object.fromEntries(pairs.map(([name, value]) => [metadataPrefix + name, value]));
}

/** The request headers that keep headers, metadata and tier when the content is replaced. */
export function keptHeaders(state: BlobState): Readonly<Record<string, string>> {
  const kept: Record<string, string> = { ...metadataHeaders(state.metadata) };
  for (const [read, write] of Object.entries(contentHeaders)) {
    const value = state.headers.get(read);
    if (value !== null) kept[write] = value;
  }
  const tier = chosenTier(state);
  if (tier !== undefined) kept["x-ms-access-tier"] = tier;
  return kept;
}

/** The access tier that was set on the blob; undefined if it has that of the account. */
export function chosenTier({ headers }: BlobState): string | undefined {
  const isInferred = headers.get("x-ms-access-tier-inferred") === "true";
  return isInferred ? undefined : (headers.get("x-ms-access-tier") ?? undefined);
}

export interface Condition {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly leaseId?: string | undefined;
}

export function conditionHeaders(condition: Condition): Record<string, string | undefined> {
  return {
    "if-match": condition.ifMatch,
    "if-none-match": condition.ifNoneMatch,
    "x-ms-lease-id": condition.leaseId || undefined,
  };
}

const etagOf = ({ headers }: Answer): string => headers.get("etag") ?? "";

export async function putBlob(
  address: BlobAddress,
  content: {
    readonly body: BodyInit;
    readonly headers: Readonly<Record<string, string>>;
    readonly condition: Condition;
    readonly signal?: AbortSignal | undefined;
    readonly onSent?: (bytes: number) => void;
  },
): Promise<Result<string>> {
  const answer = await request("blob", pathOf(address), {
    method: "PUT",
    onSent: content.onSent,
    headers: {
      "x-ms-blob-type": "BlockBlob",
      ...content.headers,
      ...conditionHeaders(content.condition),
    },
    body: content.body,
    signal: content.signal,
  });
  return mapped(answer, etagOf);
}

export async function setMetadata(
  address: BlobAddress,
  metadata: Readonly<Record<string, string>>,
  condition: Condition,
): Promise<Result<string>> {
  const answer = await request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "metadata" },
    headers: { ...metadataHeaders(metadata), ...conditionHeaders(condition) },
  });
  return mapped(answer, etagOf);
}

/** Sets the content headers. `values` are by response header name; absent ones are cleared. */
export async function setProperties(
  address: BlobAddress,
  values: Readonly<Record<string, string>>,
  condition: Condition,
): Promise<Result<string>> {
  const headers: Record<string, string | undefined> = conditionHeaders(condition);
  for (const [read, write] of Object.entries(contentHeaders)) headers[write] = values[read];
  const answer = await request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "properties" },
    headers,
  });
  return mapped(answer, etagOf);
}

export async function getTags(
  address: BlobAddress,
  signal?: AbortSignal,
): Promise<Result<Readonly<Record<string, string>>>> {
  const query = { comp: "tags", ...stateQuery(address) };
  const answer = await request("blob", pathOf(address), { query, signal });
  if (!answer.ok) return answer;
  return { ok: true, value: tagsOf(parseXml(bodyText(answer.value))) };
}

/**
 * The tags to keep when the blob is written or copied. A login that may not read tags sees only
 * their number; then the write must fail, because it would remove them.
 */
export async function getKeptTags(
  address: BlobAddress,
  signal?: AbortSignal,
): Promise<Result<Readonly<Record<string, string>>>> {
  const tags = await getTags(address, signal);
  if (tags.ok || !isRejected(tags.failure)) return tags;
  const state = await getProperties(address, signal);
  if (!state.ok) return state;
  // Accounts with a hierarchical namespace have no tags.
  if (!state.value.headers.has("x-ms-tag-count")) return done({});
  const message = `The blob has tags, which would be lost. ${tags.failure.message}`;
  return failed({ ...tags.failure, message });
}

function isRejected({ status }: Failure): boolean {
  return status >= 400 && status < 500;
}

/** A condition on the tags of a blob; undefined without tags, for which there is no condition. */
export function tagsCondition(tags: Readonly<Record<string, string>>): string | undefined {
  const expected = Object.entries(tags).map(([key, value]) => `"${key}" = '${value}'`);
  return expected.length === 0 ? undefined : expected.join(" AND ");
}

/** Tags do not change the ETag, so the tags that were read are the condition (x-ms-if-tags). */
export function setTags(
  address: BlobAddress,
  tags: Readonly<Record<string, string>>,
  { before, leaseId }: { before: Readonly<Record<string, string>>; leaseId?: string | undefined },
): Promise<Result<unknown>> {
  const items = Object.entries(tags).map(
    ([key, value]) => `<Tag><Key>${escapeXml(key)}</Key><Value>${escapeXml(value)}</Value></Tag>`,
  );
  return request("blob", pathOf(address), {
    method: "PUT",
    query: { comp: "tags" },
    headers: {
      "content-type": "application/xml",
      "x-ms-lease-id": leaseId || undefined,
      "x-ms-if-tags": tagsCondition(before),
    },
    body: `<?xml version="1.0" encoding="utf-8"?><Tags><TagSet>${items.join("")}</TagSet></Tags>`,
  });
}
