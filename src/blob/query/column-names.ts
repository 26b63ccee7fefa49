import type { Expression, Query } from "./sql-tree.ts";

/** The columns that a query needs, in lower case; undefined if it needs all. A column in a
 *  structure counts as the structure. */
export function columnNames({ selection, where }: Query): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  if (where !== undefined) addNames(where, names);
  switch (selection.kind) {
    case "all":
      return undefined;
    case "columns":
      for (const { of } of selection.columns) addNames(of, names);
      return names;
    case "aggregates":
      for (const { of } of selection.aggregates) if (of !== undefined) addNames(of, names);
      return names;
  }
}

function addNames(expression: Expression, names: Set<string>): void {
  switch (expression.kind) {
    case "literal":
      return;
    case "column":
      names.add(String(expression.path[0]).toLowerCase());
      return;
    case "binary":
      addNames(expression.left, names);
      addNames(expression.right, names);
      return;
    case "call":
      for (const each of expression.given) addNames(each, names);
      return;
    case "in":
      addNames(expression.of, names);
      for (const each of expression.among) addNames(each, names);
      return;
    case "unary":
    case "null-test":
    case "cast":
    case "like":
      addNames(expression.of, names);
  }
}
