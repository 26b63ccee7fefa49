import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Operation } from "../../src/operation/operation.ts";
import { services } from "../../src/data/services.ts";

const page = "docs/guides/managing-concurrency.md";

/** A table of the article. Its place in the page is between two comments with its name. */
interface ETagTable {
  readonly name: string;
  readonly service: string;
  /** Operations on one resource and, of entities, on several. */
  readonly resources: readonly string[];
  readonly title: string;
  readonly columns: readonly Column[];
}

interface Column {
  readonly title: string;
  /** What an operation says, from the declaration of one of its forms. */
  readonly textOf: (operation: Operation) => string;
  /** All texts. Of the forms of an operation, such as the deletion of a blob and of its snapshot,
   *  the one that is named first here is shown: it demands or returns the most. */
  readonly texts: readonly string[];
}

const returned: Column = {
  title: "returns an ETag",
  textOf: ({ etag }) => (etag === "none" ? "no" : etag === "renew" ? "yes, a new one" : "yes"),
  texts: ["yes, a new one", "yes", "no"],
};

const conditions: Column = {
  title: "takes conditions",
  textOf(operation) {
    if (operation.conditions === "tags") return "tags only";
    if (operation.conditions === "none") return hasSource(operation) ? "of the source" : "no";
    return hasSource(operation) ? "yes, also of the source" : "yes";
  },
  texts: ["yes, also of the source", "yes", "of the source", "tags only", "no"],
};

const needsMatch: Column = {
  title: "needs `If-Match`",
  textOf: (operation) => (operation.conditions === "match" ? "yes" : "no"),
  texts: ["yes", "no"],
};

const leaseId: Column = {
  title: "lease id",
  textOf({ lease }) {
    if (lease === "match-if-leased") return "needed if leased";
    if (lease === "match-if-given") return "checked if sent";
    return lease === "action" ? "its subject" : "no";
  },
  texts: ["needed if leased", "its subject", "checked if sent", "no"],
};

const tables: readonly ETagTable[] = [
  {
    name: "containers",
    service: "blob",
    resources: ["container"],
    title: "container operation",
    columns: [returned, conditions, leaseId],
  },
  {
    name: "blobs",
    service: "blob",
    resources: ["blob"],
    title: "blob operation",
    columns: [returned, conditions, leaseId],
  },
  {
    name: "entities",
    service: "table",
    resources: ["entity", "entities"],
    title: "entity operation",
    columns: [returned, needsMatch],
  },
];

/** Replaces the tables between the markers of `document` by those of the present declarations. */
export function withETagTables(document: string): string {
  return tables.reduce((text, table) => {
    const begin = `<!-- ${table.name}:begin (npm run docs) -->\n`;
    const from = text.indexOf(begin);
    const to = text.indexOf(`<!-- ${table.name}:end -->`);
    if (from < 0 || to < from) throw new Error(`${page}: no place for the table ${table.name}`);
    return `${text.slice(0, from)}${begin}\n${renderTable(table)}\n${text.slice(to)}`;
  }, document);
}

function renderTable({ service, resources, title, columns }: ETagTable): string {
  const operations = (services.find(({ name }) => name === service)?.operations ?? []).filter(
    ({ route }) => resources.includes(route.resource),
  );
  const names = [...new Set(operations.map(({ name }) => name))];
  const rows = names.map((name) => {
    const forms = operations.filter((operation) => operation.name === name);
    const cells = columns.map(({ textOf, texts }) => {
      const found = new Set(forms.map(textOf));
      return texts.find((text) => found.has(text));
    });
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  const titles = [title, ...columns.map((column) => column.title)];
  return [`| ${titles.join(" | ")} |`, `|${"---|".repeat(titles.length)}`, ...rows, ""].join("\n");
}

/** Whether the operation reads another blob or file, for which the request may have conditions. */
function hasSource({ body, params }: Operation): boolean {
  if (body.kind === "source") return true;
  return Object.values(params).some(({ sources }) => sources.includes("x-ms-source-if-match"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(page, withETagTables(readFileSync(page, "utf8")));
}
