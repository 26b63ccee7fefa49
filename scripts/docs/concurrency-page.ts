import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Operation } from "../../src/operation/operation.ts";
import { services } from "../../src/data/services.ts";

const page = "docs/guides/managing-concurrency.md";
const begin = "<!-- etag-tables:begin (npm run docs) -->\n";
const end = "<!-- etag-tables:end -->";

/** The resources of the article, by service. */
const resources: readonly (readonly [service: string, resource: string, title: string])[] = [
  ["blob", "container", "container operation"],
  ["blob", "blob", "blob operation"],
  ["table", "entity", "entity operation"],
  ["table", "entities", "operation on several entities"],
];

/** Replaces the tables between the markers of `document` by those of the present declarations. */
export function withETagTables(document: string): string {
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  const tables = resources.map(([service, resource, title]) => {
    const operations = services.find(({ name }) => name === service)?.operations ?? [];
    return renderTable(
      title,
      operations.filter(({ route }) => route.resource === resource),
    );
  });
  return `${document.slice(0, from)}\n${tables.join("\n")}\n${document.slice(to)}`;
}

function renderTable(title: string, operations: readonly Operation[]): string {
  const names = [...new Set(operations.map(({ name }) => name))];
  const rows = names.map((name) => {
    const forms = operations.filter((operation) => operation.name === name);
    const cells = [etagText, conditionsText, leaseText].map((textOf) =>
      [...new Set(forms.map(textOf))].join(" or "),
    );
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  return [
    `| ${title} | returns an ETag | takes conditions | lease id |`,
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function etagText({ etag }: Operation): string {
  return etag === "none" ? "no" : etag === "renew" ? "yes, a new one" : "yes";
}

function conditionsText({ conditions }: Operation): string {
  if (conditions === "match") return "`If-Match` needed";
  if (conditions === "tags") return "tags only";
  return conditions === "none" ? "no" : "yes";
}

function leaseText({ lease }: Operation): string {
  if (lease === "match-if-leased") return "needed if leased";
  if (lease === "match-if-given") return "checked if given";
  return lease === "action" ? "its subject" : "no";
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(page, withETagTables(readFileSync(page, "utf8")));
}
