import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Operation } from "../../src/operation/operation.ts";
import type { Service } from "../../src/operation/service.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { services } from "../../src/data/services.ts";

const page = "docs/SUPPORT.md";
const begin = "<!-- support-matrix:begin (npm run docs) -->\n";
const end = "<!-- support-matrix:end -->";

/** Replaces the matrix between the markers of `document` by that of the present declarations. */
export function withSupportMatrix(document: string): string {
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  const matrix = [...services, dfsService].map(renderService).join("\n");
  return `${document.slice(0, from)}\n${matrix}\n${document.slice(to)}`;
}

function renderService({ name, api, operations }: Service): string {
  const names = [...new Set(operations.map((operation) => operation.name))];
  const title = name.slice(0, 1).toUpperCase() + name.slice(1);
  return [
    api === undefined ? `## ${title} service` : "## Data Lake endpoint",
    "",
    "| operation | since | conditional headers | lease id | ETag |",
    "|---|---|---|---|---|",
    ...names.flatMap((each) => rowsOf(each, operations)),
    "",
  ].join("\n");
}

/** The rows of the operations named `name`. An operation with several request forms has a
 *  declaration for each: forms with equal cells share a row, other rows name their form. */
function rowsOf(name: string, operations: readonly Operation[]): readonly string[] {
  const forms = new Map<string, Operation[]>();
  for (const operation of operations) {
    if (operation.name !== name) continue;
    const cells = cellsOf(operation);
    forms.set(cells, [...(forms.get(cells) ?? []), operation]);
  }
  const formText = distinctionOf([...forms.values()]);
  return [...forms].map(
    ([cells, alike]) => `| ${name}${formText(alike)}${namespaceText(alike)} | ${cells} |`,
  );
}

function namespaceText(alike: readonly Operation[]): string {
  const [{ namespace: first } = {}] = alike;
  const isCommon = first !== undefined && alike.every(({ namespace }) => namespace === first);
  return isCommon ? ` (only with a ${first} namespace)` : "";
}

function cellsOf({ since, conditions, lease, etag }: Operation): string {
  return [since, conditionTexts[conditions], leaseTexts[lease], etagTexts[etag]].join(" | ");
}

/** Declarations that share a row. */
type Alike = readonly Operation[];

/** Returns the text that tells the rows apart: by resource, query or headers, whichever comes first
 *  and differs between all rows. Throws if none does. */
function distinctionOf(rows: readonly Alike[]): (alike: Alike) => string {
  if (rows.length === 1) return () => "";
  const found = distinctions.find((textOf) => {
    const texts = rows.flatMap((alike) => [...new Set(alike.map(textOf))]);
    return new Set(texts).size === texts.length;
  });
  if (found === undefined)
    throw new Error(`rows of ${rows[0]?.[0]?.name} have no distinguishing route`);
  return (alike) => {
    const texts = [...new Set(alike.map(found))].filter((text) => text !== "");
    return texts.length === 0 ? "" : ` (${texts.join(" or ")})`;
  };
}

/** Descriptions of resource kinds whose internal name means little to a user. */
const resourceTexts: Readonly<Record<string, string>> = {
  service: "of a service",
  container: "of a container",
  entities: "several",
  entity: "one, by its keys",
  nested: "below a table: always rejected",
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
      // `false` means the name must be absent; the row that requires it shows it.
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
  writeFileSync(page, withSupportMatrix(readFileSync(page, "utf8")));
}
