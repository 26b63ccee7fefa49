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
  const names = [...new Set(operations.map((operation) => operation.name))];
  const title = name.slice(0, 1).toUpperCase() + name.slice(1);
  return [
    `### ${title} service`,
    "",
    "| operation | since | conditional headers | lease id | ETag |",
    "|---|---|---|---|---|",
    ...names.flatMap((each) => rowsOf(each, operations)),
    "",
  ].join("\n");
}

/** Some are declared in several parts, one for each form of their request: those that answer alike
 *  share a row, and others say which form they are. */
function rowsOf(name: string, operations: readonly Operation[]): readonly string[] {
  const forms = new Map<string, Operation[]>();
  for (const operation of operations) {
    if (operation.name !== name) continue;
    const cells = cellsOf(operation);
    forms.set(cells, [...(forms.get(cells) ?? []), operation]);
  }
  const tell = distinctionOf([...forms.values()]);
  return [...forms].map(([cells, alike]) => `| ${name}${tell(alike)}${need(alike)} | ${cells} |`);
}

/** No account has one yet, so this says that the operation is always refused. */
function need(alike: readonly Operation[]): string {
  const isHierarchical = alike.every(({ namespace }) => namespace === "hierarchical");
  return isHierarchical ? " (refused: accounts have a flat namespace)" : "";
}

function cellsOf({ since, conditions, lease, etag }: Operation): string {
  return [since, conditionTexts[conditions], leaseTexts[lease], etagTexts[etag]].join(" | ");
}

type Alike = readonly Operation[];

/** The first part of the request in which no two rows have anything in common. */
function distinctionOf(rows: readonly Alike[]): (alike: Alike) => string {
  if (rows.length === 1) return () => "";
  const found = distinctions.find((tell) => {
    const told = rows.flatMap((alike) => [...new Set(alike.map(tell))]);
    return new Set(told).size === told.length;
  });
  if (found === undefined) throw new Error(`nothing tells ${rows[0]?.[0]?.name} apart`);
  return (alike) => {
    const told = [...new Set(alike.map(found))].filter((text) => text !== "");
    return told.length === 0 ? "" : ` (${told.join(" or ")})`;
  };
}

/** Where the name alone says little to those who do not know how addresses are told apart. */
const resourceTexts: Readonly<Record<string, string>> = {
  service: "of a service",
  container: "of a container",
  entities: "several",
  entity: "one, by its keys",
  nested: "below a table: always refused",
};

const distinctions: readonly ((operation: Operation) => string)[] = [
  ({ route }) => resourceTexts[route.resource] ?? route.resource,
  ({ route }) => listed(route.query ?? {}, (name, value) => `?${name}${equals("=", value)}`),
  ({ route }) => listed(route.headers ?? {}, (name, value) => `${name}${equals(": ", value)}`),
];

function listed(
  values: Readonly<Record<string, string | boolean>>,
  spell: (name: string, value: string | boolean) => string,
): string {
  return (
    Object.entries(values)
      // What must not be there is left to the row that wants it.
      .flatMap(([name, value]) => (value === false ? [] : [`\`${spell(name, value)}\``]))
      .join(", ")
  );
}

function equals(sign: string, value: string | boolean): string {
  return typeof value === "string" ? sign + value : "";
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
