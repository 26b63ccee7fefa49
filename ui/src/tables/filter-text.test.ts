import { expect, it } from "vitest";
import { filterText, type Clause } from "./filter-text.ts";

const clause: Clause = {
  join: "and",
  property: "Name",
  operator: "eq",
  type: "Edm.String",
  value: "x",
};

const cases: readonly (readonly [Partial<Clause>, string])[] = [
  [{ value: "O'Hara" }, "Name eq 'O''Hara'"],
  [{ type: "Edm.Int32", value: "5", operator: "gt" }, "Name gt 5"],
  [{ type: "Edm.Int64", value: "5", operator: "le" }, "Name le 5L"],
  [{ type: "Edm.Boolean", value: "True" }, "Name eq true"],
  [
    { type: "Edm.DateTime", value: "2026-01-01T00:00:00Z" },
    "Name eq datetime'2026-01-01T00:00:00Z'",
  ],
  [{ type: "Edm.Guid", value: "0e8f" }, "Name eq guid'0e8f'"],
  [{ operator: "prefix", value: "ab" }, "(Name ge 'ab' and Name lt 'ac')"],
];

it.each(cases)("%o", (given, expected) => {
  expect(filterText([{ ...clause, ...given }])).toBe(expected);
});

it("joins clauses from left to right and leaves out those without a property", () => {
  const clauses: readonly Clause[] = [
    clause,
    { ...clause, property: "" },
    { ...clause, join: "or", property: "Other" },
  ];
  expect(filterText(clauses)).toBe("Name eq 'x' or Other eq 'x'");
});
