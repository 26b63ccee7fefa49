import { escapeText } from "../../encoding/xml-writer.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { Field, FieldReader } from "./fields.ts";
import type { InitRequest, InitStep } from "./init-step.ts";
import { metadataHeaders, type ContentParser, type ParsedContent } from "./parse-content.ts";
import { policyRequest } from "./policies.ts";

/** A resource of an account to create. */
export interface NamedResource {
  readonly account: string;
  readonly name: string;
  readonly field: Field;
  readonly reader: FieldReader;
  readonly contents: ContentParser;
}

const accessLevels = ["private", "blob", "container"];
/** Length of a range that Put Range accepts. */
const rangeBytesMax = 4 * 1024 * 1024;
const json = {
  "content-type": "application/json",
  accept: "application/json;odata=nometadata",
  prefer: "return-no-content",
};

export function containerSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader, contents } = resource;
  const at = reader.object(field, ["access", "metadata", "policies", "blobs"]);
  const access = reader.text(at("access")) ?? "private";
  if (!accessLevels.includes(access)) {
    reader.refuse(at("access"), `must be one of ${accessLevels.join(", ")}`);
  }
  const accessHeader: Record<string, string> =
    access === "private" ? {} : { "x-ms-blob-public-access": access };
  const headers = { ...accessHeader, ...metadataHeaders(reader.texts(at("metadata"))) };
  const query = "restype=container";
  const policies = policyRequest(reader, at("policies"), {
    path: name,
    query: "restype=container&comp=acl",
    headers: accessHeader,
  });
  const container = step(resource, "blob", { method: "PUT", path: name, query, headers }, policies);
  const blobs = reader.map(at("blobs")).flatMap(([blob, blobField]) => {
    const content = contents.parse(blobField, ["tags"]);
    if (content === undefined) return [];
    const create = putBlob(`${name}/${blob}`, content);
    return [step({ ...resource, field: blobField }, "blob", create)];
  });
  return [container, ...blobs];
}

function putBlob(path: string, { bytes, contentType, metadata, tags }: ParsedContent): InitRequest {
  const pairs = tags.map((pair) => pair.map(encodeURIComponent).join("="));
  const tagHeader: Record<string, string> =
    pairs.length === 0 ? {} : { "x-ms-tags": pairs.join("&") };
  const headers = {
    "x-ms-blob-type": "BlockBlob",
    "x-ms-blob-content-type": contentType,
    "if-none-match": "*",
    ...metadata,
    ...tagHeader,
  };
  return { method: "PUT", path, headers, body: bytes };
}

export function queueSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader } = resource;
  const at = reader.object(field, ["metadata", "policies", "messages"]);
  const headers = metadataHeaders(reader.texts(at("metadata")));
  const policies = policyRequest(reader, at("policies"), { path: name, query: "comp=acl" });
  const messages = reader.list(at("messages")).flatMap((message): readonly InitRequest[] => {
    if (typeof message.value !== "string") return reader.refuse(message, "must be a text") ?? [];
    const text = escapeText(message.value);
    const body = `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
    return [{ method: "POST", path: `${name}/messages`, body }];
  });
  // Create Queue succeeds for an existing queue with the same metadata, so it is looked up first.
  const probe = { method: "GET", path: name, query: "comp=metadata" };
  const create = { method: "PUT", path: name, headers };
  return [{ ...step(resource, "queue", create, [...policies, ...messages]), probe }];
}

export function tableSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader } = resource;
  const at = reader.object(field, ["policies", "entities"]);
  const body = JSON.stringify({ TableName: name });
  const policies = policyRequest(reader, at("policies"), { path: name, query: "comp=acl" });
  const create = { method: "POST", path: "Tables", headers: json, body };
  const entities = reader.list(at("entities")).flatMap((entity): readonly InitStep[] => {
    if (typeof entity.value !== "object" || entity.value === null || Array.isArray(entity.value)) {
      return reader.refuse(entity, "must be an object") ?? [];
    }
    const insert = {
      method: "POST",
      path: name,
      headers: json,
      body: JSON.stringify(entity.value),
    };
    return [step({ ...resource, field: entity }, "table", insert)];
  });
  return [step(resource, "table", create, policies), ...entities];
}

export function shareSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader, contents } = resource;
  const at = reader.object(field, ["quotaGiB", "metadata", "policies", "directories", "files"]);
  const quota = at("quotaGiB");
  if (quota.value !== undefined && !Number.isInteger(quota.value)) {
    reader.refuse(quota, "must be a whole number of GiB");
  }
  const quotaHeader: Record<string, string> =
    quota.value === undefined ? {} : { "x-ms-share-quota": JSON.stringify(quota.value) };
  const headers = { ...quotaHeader, ...metadataHeaders(reader.texts(at("metadata"))) };
  const policies = policyRequest(reader, at("policies"), {
    path: name,
    query: "restype=share&comp=acl",
  });
  const create = { method: "PUT", path: name, query: "restype=share", headers };
  const files = reader.map(at("files")).flatMap(([path, file]) => {
    const content = contents.parse(file, []);
    return content === undefined ? [] : [{ path, file, content }];
  });
  const directories = new Map<string, Field>();
  for (const each of reader.list(at("directories")))
    addParents(directories, each, reader.text(each));
  for (const { path, file } of files) {
    addParents(directories, file, path.slice(0, Math.max(path.lastIndexOf("/"), 0)));
  }
  return [
    step(resource, "file", create, policies),
    ...[...directories].map(([path, directory]) => {
      const request = { method: "PUT", path: `${name}/${path}`, query: "restype=directory" };
      return step({ ...resource, field: directory }, "file", request);
    }),
    ...files.map(({ path, file, content }) =>
      fileStep({ ...resource, field: file }, path, content),
    ),
  ];
}

/** Adds a directory after its parents. */
function addParents(found: Map<string, Field>, field: Field, path = ""): void {
  const names = path.split("/").filter((name) => name !== "");
  for (const index of names.keys()) {
    const parent = names.slice(0, index + 1).join("/");
    if (!found.has(parent)) found.set(parent, field);
  }
}

/** Create File replaces an existing file, so it is looked up first. */
function fileStep(resource: NamedResource, name: string, content: ParsedContent): InitStep {
  const { bytes, contentType, metadata } = content;
  const path = `${resource.name}/${name}`;
  const headers = {
    "x-ms-type": "file",
    "x-ms-content-length": String(bytes.length),
    "x-ms-content-type": contentType,
    ...metadata,
  };
  const ranges: InitRequest[] = [];
  for (let start = 0; start < bytes.length; start += rangeBytesMax) {
    const body = bytes.subarray(start, start + rangeBytesMax);
    const range = `bytes=${start}-${start + body.length - 1}`;
    const rangeHeaders = { "x-ms-write": "update", "x-ms-range": range };
    ranges.push({ method: "PUT", path, query: "comp=range", headers: rangeHeaders, body });
  }
  const created = step(resource, "file", { method: "PUT", path, headers }, ranges);
  return { ...created, probe: { method: "HEAD", path } };
}

function step(
  { account, field }: NamedResource,
  service: ServiceName,
  create: InitRequest,
  complete: readonly InitRequest[] = [],
): InitStep {
  return { field: field.path, account, service, create, complete };
}
