import { describe, expect, it } from "vitest";
import { fittingColumns } from "./fitting-columns.ts";
import type { Column } from "./grid-types.ts";

const column = (
  title: string,
  width: string,
  isMinor: Column<string>["isMinor"] = true,
): Column<string> => ({
  title,
  width,
  isMinor,
  cell: () => null,
});

const columns = [
  column("Name", "minmax(0, 3fr)", false),
  column("Size", "6rem", "last"),
  column("Type", "minmax(0, 1fr)"),
  column("State", "8.5rem"),
  column("Modified", "10.5rem"),
];

function titles(widthPixels: number): string {
  return fittingColumns(columns, widthPixels)
    .map(({ title }) => title)
    .join(" ");
}

describe("columns that fit", () => {
  it.each([
    [1000, "Name Size Type State Modified"],
    [800, "Name Size State Modified"],
    [680, "Name Size Modified"],
    [500, "Name Size"],
    [280, "Name Size"],
    [260, "Name"],
    [100, "Name"],
  ])("in %i pixels: %s", (widthPixels, expected) => {
    expect(titles(widthPixels)).toBe(expected);
  });
});
