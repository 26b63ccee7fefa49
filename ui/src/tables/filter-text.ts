import { quoted } from "../rest/table.ts";
import type { EdmType } from "../rest/entity.ts";

export const operators = [
  ["eq", "="],
  ["ne", "≠"],
  ["gt", ">"],
  ["ge", "≥"],
  ["lt", "<"],
  ["le", "≤"],
  ["prefix", "begins with"],
] as const;

type Operator = (typeof operators)[number][0];

export interface Clause {
  readonly join: "and" | "or";
  readonly property: string;
  readonly operator: Operator;
  readonly type: EdmType;
  readonly value: string;
}

/** The `$filter` expression of a list of clauses, joined from left to right. */
export function filterText(clauses: readonly Clause[]): string {
  const named = clauses.filter(({ property }) => property !== "");
  return named
    .map((clause, index) =>
      index === 0 ? oneClause(clause) : `${clause.join} ${oneClause(clause)}`,
    )
    .join(" ");
}

function oneClause({ property, operator, type, value }: Clause): string {
  if (operator !== "prefix") return `${property} ${operator} ${literal(type, value)}`;
  // Strings with a prefix sort between the prefix and the prefix with its last character + 1.
  const last = value.charCodeAt(value.length - 1);
  if (value === "") return `${property} ge ''`;
  const after = value.slice(0, -1) + String.fromCharCode(last + 1);
  return `(${property} ge '${quoted(value)}' and ${property} lt '${quoted(after)}')`;
}

function literal(type: EdmType, value: string): string {
  switch (type) {
    case "Edm.Int32":
    case "Edm.Double":
      return value === "" ? "0" : value;
    case "Edm.Int64":
      return `${value === "" ? "0" : value}L`;
    case "Edm.Boolean":
      return value.toLowerCase() === "true" ? "true" : "false";
    case "Edm.DateTime":
      return `datetime'${quoted(value)}'`;
    case "Edm.Guid":
      return `guid'${quoted(value)}'`;
    case "Edm.Binary":
      return `X'${quoted(value)}'`;
    case "Edm.String":
      return `'${quoted(value)}'`;
  }
}
