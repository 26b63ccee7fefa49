import type { ServiceCall } from "../../admin/call-service.ts";
import { escapeText } from "../../encoding/xml-writer.ts";
import type { ServiceName } from "../../protocol/names.ts";
import {
  ContentParser,
  FieldReader,
  metadataHeaders,
  type Field,
  type ParsedContent,
} from "./parse-content.ts";
import { dirname } from "node:path";
import type { Accounts } from "../../account/settings.ts";
import { readRegularFile } from "../../host/files.ts";
import { messageOf, StartRefused } from "../../host/refused.ts";
import { parseInitAccount, type InitAccount } from "./init-accounts.ts";
import type { InitInput } from "./init-input.ts";

/** Turns the input of `--init` into steps: requests as a client would send them, so that the
 *  services check them. `applyInit` runs the steps. */

/** The description of a container, queue, table or share in the input, and the readers for it. */
interface NamedResource {
  readonly account: string;
  readonly name: string;
  readonly field: Field;
  readonly reader: FieldReader;
  readonly contents: ContentParser;
}

const accessLevels = ["private", "blob", "container"];
/** Azure's limit of one Put Range: longer files are written in several. */
const rangeBytesMax = 4 * 1024 * 1024;
const json = {
  "content-type": "application/json",
  accept: "application/json;odata=nometadata",
  prefer: "return-no-content",
};

function containerSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader, contents } = resource;
  const at = reader.object(field, ["access", "metadata", "policies", "blobs"]);
  const access = reader.text(at("access")) ?? "private";
  if (!accessLevels.includes(access)) {
    reader.refuse(at("access"), `must be one of ${accessLevels.join(", ")}`);
  }
  const accessHeader: Record<string, string> =
    access === "private" ? {} : { "x-ms-blob-public-access": access };
  const headers = { ...accessHeader, ...metadataHeaders(reader.texts(at("metadata"))) };
  const query = { restype: "container" };
  const policies = policyRequest(reader, at("policies"), {
    path: name,
    query: { restype: "container", comp: "acl" },
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

function queueSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader } = resource;
  const at = reader.object(field, ["metadata", "policies", "messages"]);
  const headers = metadataHeaders(reader.texts(at("metadata")));
  const policies = policyRequest(reader, at("policies"), { path: name, query: { comp: "acl" } });
  const messages = reader.list(at("messages")).flatMap((message): readonly InitRequest[] => {
    if (typeof message.value !== "string") return reader.refuse(message, "must be a text") ?? [];
    const text = escapeText(message.value);
    const body = `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
    return [{ method: "POST", path: `${name}/messages`, body }];
  });
  // Create Queue succeeds for an existing queue with the same metadata, so it is looked up first.
  const probe = { method: "GET", path: name, query: { comp: "metadata" } };
  const create = { method: "PUT", path: name, headers };
  return [{ ...step(resource, "queue", create, [...policies, ...messages]), probe }];
}

function tableSteps(resource: NamedResource): readonly InitStep[] {
  const { name, field, reader } = resource;
  const at = reader.object(field, ["policies", "entities"]);
  const body = JSON.stringify({ TableName: name });
  const policies = policyRequest(reader, at("policies"), { path: name, query: { comp: "acl" } });
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

function shareSteps(resource: NamedResource): readonly InitStep[] {
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
    query: { restype: "share", comp: "acl" },
  });
  const create = { method: "PUT", path: name, query: { restype: "share" }, headers };
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
      const request = { method: "PUT", path: `${name}/${path}`, query: { restype: "directory" } };
      return step({ ...resource, field: directory }, "file", request);
    }),
    ...files.map(({ path, file, content }) =>
      fileStep({ ...resource, field: file }, path, content),
    ),
  ];
}

/** Adds a directory of a share to those that are created. Adds missing parents first, without which
 *  the service would reject it. */
function addParents(found: Map<string, Field>, field: Field, path = ""): void {
  const names = path.split("/").filter((name) => name !== "");
  for (const index of names.keys()) {
    const parent = names.slice(0, index + 1).join("/");
    if (!found.has(parent)) found.set(parent, field);
  }
}

/** The step that creates a file, after a look for it: Create File replaces an existing file. */
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
    ranges.push({ method: "PUT", path, query: { comp: "range" }, headers: rangeHeaders, body });
  }
  const created = step(resource, "file", { method: "PUT", path, headers }, ranges);
  return { ...created, probe: { method: "HEAD", path } };
}

function step(
  { account, field, reader }: NamedResource,
  service: ServiceName,
  create: InitRequest,
  complete: readonly InitRequest[] = [],
): InitStep {
  for (const { headers = {} } of [create, ...complete]) {
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, value);
      if (problem !== undefined) reader.refuse(field, problem);
    }
  }
  return { field: field.path, account, service, create, complete };
}

/** Why a header is not valid; undefined if it is. Requests of this process skip the parser of HTTP,
 *  which rejects headers that a response could not have. */
function headerProblem(name: string, value: string): string | undefined {
  const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(name);
  if (!isName) return `${JSON.stringify(name)} is not the name of a header`;
  const isValue = /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  return isValue ? undefined : `${name} has characters that a header cannot have`;
}

/** The request that sets stored access policies; none without policies. */
function policyRequest(
  reader: FieldReader,
  field: Field,
  request: Pick<InitRequest, "path" | "query" | "headers">,
): readonly InitRequest[] {
  const policies = reader.map(field).map(([id, policy]) => policyXml(reader, id, policy));
  if (policies.length === 0) return [];
  const body = `<SignedIdentifiers>${policies.join("")}</SignedIdentifiers>`;
  return [{ ...request, method: "PUT", body }];
}

function policyXml(reader: FieldReader, id: string, field: Field): string {
  const at = reader.object(field, ["start", "expiry", "permissions"]);
  const element = (name: string, text: string | undefined): string =>
    text === undefined ? "" : `<${name}>${escapeText(text)}</${name}>`;
  const parts = [
    element("Start", reader.text(at("start"))),
    element("Expiry", reader.text(at("expiry"))),
    element("Permission", reader.text(at("permissions"))),
  ];
  const policy = `<AccessPolicy>${parts.join("")}</AccessPolicy>`;
  return `<SignedIdentifier>${element("Id", id)}${policy}</SignedIdentifier>`;
}

/** Limit of the JSON file, which is read as a whole. */
const fileBytesMax = 256 * 1024 * 1024;
const kinds = ["containers", "queues", "tables", "shares"] as const;
const stepsOfKind = {
  containers: containerSteps,
  queues: queueSteps,
  tables: tableSteps,
  shares: shareSteps,
};

interface ParsedInit {
  readonly accounts: readonly InitAccount[];
  readonly steps: readonly InitStep[];
}

/** Parses what is to be created: a path of a JSON file, or its content. Throws `StartRefused` with
 *  one line per problem. */
export function parseInit(init: string | InitInput, accounts: Accounts): ParsedInit {
  const isFile = typeof init === "string";
  const value = isFile ? readInitFile(init) : init;
  const reader = new FieldReader();
  const contents = new ContentParser(reader, isFile ? dirname(init) : ".");
  const parsed = parseRoot({ path: "", value }, { reader, contents, accounts });
  if (reader.problems.length === 0) return parsed;
  throw new StartRefused(reader.problems.map((problem) => `${nameOf(init)}: ${problem}`));
}

/** How messages name the input: by the path of its file, or by the name of the option. */
export function nameOf(init: string | InitInput): string {
  return typeof init === "string" ? init : "init";
}

function readInitFile(path: string): unknown {
  try {
    return JSON.parse(readRegularFile(path, fileBytesMax).toString("utf8"));
  } catch (error) {
    throw new StartRefused([`${path}: cannot be read: ${messageOf(error)}`]);
  }
}

interface InitParts {
  readonly reader: FieldReader;
  readonly contents: ContentParser;
  readonly accounts: Accounts;
}

function parseRoot(root: Field, parts: InitParts): ParsedInit {
  const { reader, accounts } = parts;
  // Editors use `$schema` to find a description of the file.
  const at = reader.object(root, ["accounts", ...kinds, "$schema"]);
  const [first = ""] = accounts.names();
  const created: InitAccount[] = [];
  const steps = [...accountSteps(at, first, parts)];
  for (const [name, account] of reader.map(at("accounts"))) {
    const of = reader.object(account, ["create", ...kinds]);
    const wanted = parseInitAccount(reader, accounts, { name, account, create: of("create") });
    if (wanted !== undefined) created.push(wanted);
    steps.push(...accountSteps(of, name, parts));
  }
  return { accounts: created, steps };
}

function accountSteps(
  at: (name: string) => Field,
  account: string,
  { reader, contents }: InitParts,
): readonly InitStep[] {
  return kinds.flatMap((kind) =>
    reader
      .map(at(kind))
      .flatMap(([name, field]) => stepsOfKind[kind]({ account, name, field, reader, contents })),
  );
}

/** A request that `applyInit` sends to a service of this process. */
export type InitRequest = Omit<ServiceCall, "account">;

/** The requests that create one resource, unless it exists. */
export interface InitStep {
  /** Path of the field in the input, for messages. */
  readonly field: string;
  readonly account: string;
  readonly service: ServiceName;
  /** Succeeds if the resource exists; undefined: `create` rejects an existing one with 409. */
  readonly probe?: InitRequest;
  readonly create: InitRequest;
  /** Requests that follow only if `create` has created the resource: for a queue, those that put
   *  messages. */
  readonly complete?: readonly InitRequest[];
}
