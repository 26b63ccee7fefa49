import {
  parseAccessPolicies,
  policyIdUnitsMax,
  renderAccessPolicies,
  storedPoliciesMax,
} from "../../account/access-policies.ts";
import { formatIso, parseIso } from "../../base/dates.ts";
import { parseXml } from "../../encoding/xml.ts";
import type { StoredPolicy } from "../../protocol/permission.ts";
import { serviceNames, type ServiceName } from "../../protocol/names.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { callService, type ServiceCall, type ServiceReply } from "../call-service.ts";
import { findInputError, oneOf, optional, textCheck, timeCheck } from "../inputs.ts";
import type { CheckedRequest, JsonObject } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";

/** The routes of stored access policies, which limit SAS of a container, queue, table or share and
 *  can revoke them. They call the operations Get and Set ACL of the services. */

const serviceCheck = oneOf(serviceNames);
const target = { service: serviceCheck, account: textCheck, container: textCheck };
const policyChecks = {
  id: textCheck,
  start: optional(timeCheck),
  expiry: optional(timeCheck),
  permission: optional(textCheck),
};
const bodyChecks = {
  ...target,
  publicAccess: optional(oneOf(["none", "blob", "container"])),
  unmodifiedSince: optional(textCheck),
  policies: policiesCheck,
};

/** The access level of a container, and the stored access policies of a container, queue, table or
 *  share. The operations behind it accept no SAS, so that the explorer cannot call them itself. */
export const policyRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/policies", "principal", read, { query: target }),
  declareRoute("POST /admin/v1/policies", "principal", write),
];

function policiesCheck(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length > storedPoliciesMax) {
    return `must be a list of at most ${storedPoliciesMax} policies`;
  }
  for (const each of value as readonly unknown[]) {
    const isObject = typeof each === "object" && each !== null && !Array.isArray(each);
    const wrong = isObject ? findInputError(each as JsonObject, policyChecks) : "must be an object";
    if (wrong !== undefined) return `contains a policy whose ${wrong}`;
    const { id } = each as { readonly id: string };
    if (id.length > policyIdUnitsMax) return `: an id has at most ${policyIdUnitsMax} characters`;
  }
  return undefined;
}

interface Target {
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
}

async function read(request: CheckedRequest): Promise<AdminResponse> {
  const named = Object.fromEntries(request.query) as unknown as Target;
  const reply = await callAcl(request, named, { method: "GET", headers: {} });
  if (reply === undefined) return noAccount(named.account);
  if (reply.status !== 200) return refuse(reply.status, reply.code, reply.message);
  const root = parseXml(reply.text);
  const policies = root.ok ? parseAccessPolicies(root.value) : root;
  if (!policies.ok) throw new Error(`${named.service} returned invalid access policies`);
  const isBlob = named.service === "blob";
  const access = reply.headers["x-ms-blob-public-access"] ?? "none";
  return json({
    ...(isBlob ? { publicAccess: access, lastModified: reply.headers["Last-Modified"] } : {}),
    policies: policies.value.map(renderPolicy),
  } satisfies PoliciesView);
}

interface PolicyChange extends Target {
  readonly publicAccess?: "none" | "blob" | "container" | null;
  /** The `lastModified` that the caller has read: if the container was changed since, 412. */
  readonly unmodifiedSince?: string | null;
  readonly policies: readonly {
    readonly id: string;
    readonly start?: string | null;
    readonly expiry?: string | null;
    readonly permission?: string | null;
  }[];
}

async function write(request: CheckedRequest): Promise<AdminResponse> {
  const wrong = findInputError(request.body, bodyChecks);
  if (wrong !== undefined) return refuse(400, "InvalidInput", wrong);
  const { publicAccess, unmodifiedSince, policies, ...named } =
    request.body as unknown as PolicyChange;
  const extra = [publicAccess && "publicAccess", unmodifiedSince && "unmodifiedSince"];
  const misplaced = named.service === "blob" ? undefined : extra.find(Boolean);
  if (misplaced) return refuse(400, "InvalidInput", `${misplaced} is for containers`);
  const level = publicAccess && publicAccess !== "none" ? publicAccess : undefined;
  const reply = await callAcl(request, named, {
    method: "PUT",
    headers: {
      ...(level === undefined ? {} : { "x-ms-blob-public-access": level }),
      ...(unmodifiedSince ? { "if-unmodified-since": unmodifiedSince } : {}),
    },
    body: renderAccessPolicies(policies.map(policyOf)),
  });
  if (reply === undefined) return noAccount(named.account);
  if (reply.status >= 300) return refuse(reply.status, reply.code, reply.message);
  return json({ policies: policies.length });
}

function callAcl(
  request: CheckedRequest,
  { service, account, container }: Target,
  call: Pick<ServiceCall, "method" | "headers" | "body">,
): Promise<ServiceReply | undefined> {
  const restypes: Readonly<Partial<Record<ServiceName, string>>> = {
    blob: "container",
    file: "share",
  };
  const restype = restypes[service];
  const query = { ...(restype === undefined ? {} : { restype }), comp: "acl" };
  return callService(request, service, { account, path: container, query, ...call });
}

function policyOf({
  id,
  start,
  expiry,
  permission,
}: PolicyChange["policies"][number]): StoredPolicy {
  return {
    id,
    start: start ? parseIso(start) : undefined,
    expiry: expiry ? parseIso(expiry) : undefined,
    permission: permission || undefined,
  };
}

/** A stored access policy; times are ISO 8601. */
export type Policy = Pick<StoredPolicy, "id"> & Partial<ReturnType<typeof renderPolicy>>;

export interface PoliciesView {
  /** Set only for containers. */
  readonly publicAccess?: string;
  readonly lastModified?: string | undefined;
  readonly policies: readonly Policy[];
}

function renderPolicy({ id, start, expiry, permission }: StoredPolicy) {
  const time = (moment: bigint | undefined) =>
    moment === undefined ? undefined : formatIso(moment);
  return { id, start: time(start), expiry: time(expiry), permission };
}
