import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Operation } from "../src/core/operation.ts";
import type { Service } from "../src/core/service.ts";
import { services } from "../src/server/services.ts";

const begin = "<!-- support-matrix:begin (npm run docs) -->\n";
const end = "<!-- support-matrix:end -->";

/** The document with its matrix as the declarations have it now. */
export function withSupportMatrix(document: string): string {
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  const matrix = services.map(renderService).join("\n");
  return `${document.slice(0, from)}\n${matrix}\n${document.slice(to)}`;
}

function renderService({ name, operations }: Service): string {
  const title = name.slice(0, 1).toUpperCase() + name.slice(1);
  return [
    `### ${title} service`,
    "",
    "| operation | since | conditional headers | lease id | ETag |",
    "|---|---|---|---|---|",
    // Some are declared in several parts, one for each form of their request.
    ...new Set(operations.map(renderOperation)),
    "",
  ].join("\n");
}

function renderOperation({ name, since, conditions, lease, etag }: Operation): string {
  const cells = [name, since, conditionTexts[conditions], leaseTexts[lease], etagTexts[etag]];
  return `| ${cells.join(" | ")} |`;
}

const conditionTexts: Readonly<Record<Operation["conditions"], string>> = {
  read: "yes (304, 412)",
  write: "yes (412)",
  create: "yes (409, 412)",
  tags: "tags only (412)",
  match: "`If-Match`, required (412)",
  none: "",
};
const leaseTexts: Readonly<Record<Operation["lease"], string>> = {
  "match-if-leased": "needed if leased",
  "match-if-given": "checked if given",
  action: "its subject",
  none: "",
};
const etagTexts: Readonly<Record<Operation["etag"], string>> = {
  renew: "new",
  keep: "current",
  none: "",
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync("README.md", withSupportMatrix(readFileSync("README.md", "utf8")));
}
