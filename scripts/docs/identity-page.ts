import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { dfsService } from "../../src/blob/dfs/service.ts";
import type { Operation } from "../../src/operation/operation.ts";
import type { Service } from "../../src/operation/service.ts";
import { AccessRules, Role } from "../../src/protocol/roles/role.ts";
import { actionNeedOf } from "../../src/protocol/roles/action-need.ts";
import { builtInRoles } from "../../src/protocol/roles/built-in-roles.ts";
import { services } from "../../src/data/services.ts";

const page = "docs/IDENTITY.md";
const begin = "<!-- roles:begin (npm run docs) -->\n";
const end = "<!-- roles:end -->";
const prefix = "Microsoft.Storage/storageAccounts/";

/** Replaces the tables between the markers of `document` by those of the present declarations. */
export function withRoleTables(document: string): string {
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  const tables = [...services, dfsService].map(renderService).join("\n");
  return `${document.slice(0, from)}\n${tables}\n${document.slice(to)}`;
}

function renderService(service: Service): string {
  const { name, api } = service;
  const title = name.slice(0, 1).toUpperCase() + name.slice(1);
  const rows = new Set(service.operations.map((operation) => rowOf(service, operation)));
  return [
    api === undefined ? `### ${title} service` : "### Data Lake endpoint",
    "",
    "| operation | actions | built-in roles |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function rowOf(service: Service, operation: Operation): string {
  const need = actionNeedOf(service.name, operation);
  const actions = need.map((all) => all.map((one) => `\`${shortOf(one)}\``).join(" and "));
  const isFree = need.some((all) => all.length === 0);
  const roles = builtInRoles.filter((definition) => {
    const assigned = [{ role: new Role(definition), scope: undefined }];
    const rules = new AccessRules(new Map([["one", assigned]]), { groups: new Map() });
    return rules.allows(["one"], need, { service: service.name, name: undefined });
  });
  const held = isFree ? "" : roles.map(({ name }) => name.replace("Storage ", "")).join(", ");
  return `| ${operation.name} | ${isFree ? "none" : actions.join(" or ")} | ${held} |`;
}

function shortOf(action: string): string {
  return action.startsWith(prefix) ? action.slice(prefix.length) : action;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(page, withRoleTables(readFileSync(page, "utf8")));
}
