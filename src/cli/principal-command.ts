import { readFile } from "node:fs/promises";
import type { ChangedPrincipal } from "../admin/identity/identity-changes.ts";
import type { Identity } from "../admin/identity/identity-view.ts";
import {
  addressOptions,
  callAdmin,
  jsonOption,
  requireServer,
  type AdminCall,
} from "./admin-client.ts";
import { defineCommand, type Argument, type Options, type Values } from "./command.ts";

const nameWord: Argument = { value: "NAME", kind: "text" };
const fields = ["create", "change"] as const;
const assign = ["assign"] as const;

const principalOptions = {
  ...addressOptions,
  objectId: { kind: "name", value: "ID", actions: ["create"], help: "default: a random GUID" },
  clientId: { kind: "name", value: "ID", actions: fields, help: "default: the object id" },
  groups: { kind: "name", value: "A,B", actions: fields, help: "object ids of its groups" },
  secretFile: { kind: "file", value: "FILE", actions: fields, help: "file with its secret" },
  newSecret: { kind: "switch", actions: ["change"], help: "replace the secret by a random one" },
  noSecret: { kind: "switch", actions: fields, help: "without a secret" },
  account: { kind: "name", value: "NAME", actions: assign, help: "default: all accounts" },
  container: { kind: "name", value: "NAME", actions: assign, help: "only in this container" },
  queue: { kind: "name", value: "NAME", actions: assign, help: "only in this queue" },
  table: { kind: "name", value: "NAME", actions: assign, help: "only in this table" },
  share: { kind: "name", value: "NAME", actions: assign, help: "only in this share" },
} as const satisfies Options;

/** `etagere principal`: manages the principals (users and applications) and role assignments that a
 *  running server stores, through its admin API. */
export const principalCommand = defineCommand({
  name: "principal",
  summary: "create, change and delete principals, and assign roles to them",
  description: [
    "Manages the principals and role assignments in the data store of a running server " +
      "(docs/IDENTITY.md). Those of --config are only listed.",
  ],
  actions: {
    list: { arguments: [], help: "principals, then role assignments with their ids" },
    create: { arguments: [nameWord], help: "a principal with a random secret, which is printed" },
    change: { arguments: [nameWord], help: "replace what the options name" },
    delete: { arguments: [nameWord], help: "a principal with its role assignments" },
    assign: {
      arguments: [nameWord, { value: "ROLE", kind: "text" }],
      help: 'such as "Storage Blob Data Reader"; NAME may be the object id of a group',
    },
    unassign: { arguments: [{ value: "ID", kind: "name" }], help: "delete a role assignment" },
  },
  options: { ...principalOptions, ...jsonOption },
  exitCodes: ["done", "not done"],
  example: "etagere principal create importer",
  run: async ({ action, words, options }) => {
    const [named = ""] = words;
    const call = await callOf(action, words, options);
    const answer = await callAdmin(await requireServer(options), call);
    return { report: answer ?? {}, text: `${printed(action, named, answer)}\n` };
  },
});

type PrincipalOptions = Values<typeof principalOptions>;

type Action = "list" | "create" | "change" | "delete" | "assign" | "unassign";

const base = "/admin/v1";

/** The call of the admin API that carries out an action. The first word is the name of a principal,
 *  or the id of a role assignment. */
async function callOf(
  action: Action,
  [named = "", role = ""]: readonly string[],
  options: PrincipalOptions,
): Promise<AdminCall> {
  const principals = `${base}/principals`;
  const own = `${principals}/${encodeURIComponent(named)}`;
  switch (action) {
    case "list":
      return { method: "GET", path: `${base}/identity` };
    case "create": {
      const given = await fieldsOf(options);
      const newSecret = !("secret" in given);
      const body = { name: named, objectId: options.objectId, ...given, newSecret };
      return { method: "POST", path: principals, body };
    }
    case "change": {
      const body = { ...(await fieldsOf(options)), newSecret: options.newSecret };
      return { method: "PATCH", path: own, body };
    }
    case "delete":
      return { method: "DELETE", path: own };
    case "assign": {
      const { account, container, queue, table, share } = options;
      const body = { principal: named, role, account, container, queue, table, share };
      return { method: "POST", path: `${base}/role-assignments`, body };
    }
    case "unassign":
      return {
        method: "DELETE",
        path: `${base}/role-assignments/${encodeURIComponent(named)}`,
      };
  }
}

/** The fields of a principal that the options set. A `secret` of null removes the stored one. */
async function fieldsOf({ clientId, groups, secretFile, noSecret }: PrincipalOptions) {
  const secret = secretFile === undefined ? null : (await readFile(secretFile, "utf8")).trim();
  const hasSecret = secretFile !== undefined || noSecret;
  return {
    ...(clientId !== undefined && { clientId }),
    ...(groups !== undefined && { groups: groups.split(",").filter((id) => id !== "") }),
    ...(hasSecret && { secret }),
  };
}

function printed(action: Action, named: string, answer: unknown): string {
  if (action === "list") return listOf(answer as Identity).join("\n");
  if (action === "assign") return `${named}: assigned (${(answer as { readonly id: string }).id})`;
  if (action === "delete" || action === "unassign") return `${named}: deleted`;
  const { objectId, clientId, secret } = answer as ChangedPrincipal;
  const lines = [`${named}: ${action}d`, `object id: ${objectId}`, `client id: ${clientId}`];
  return [...lines, ...(secret === undefined ? [] : [`secret: ${secret}`])].join("\n");
}

function listOf({ principals, assignments, ignored = [] }: Identity): readonly string[] {
  return [
    ...principals.map(
      ({ name, source, objectId }) => `${name.padEnd(24)} ${source.padEnd(10)} ${objectId}`,
    ),
    ...assignments.map(({ id = "configured", principal, objectId, role, account, scope }) => {
      const where = scope === undefined ? "" : `/${scope.service}/${scope.name}`;
      return `${(principal ?? objectId).padEnd(24)} ${role} in ${account ?? "*"}${where} (${id})`;
    }),
    ...ignored.map(({ kind, id, problem }) => `not used: ${kind} ${id}: ${problem}`),
  ];
}
