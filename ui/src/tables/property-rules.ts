import type { EdmType } from "../rest/entity.ts";
import type { NamedProperty } from "./property-rows.tsx";

const int32Max = 2n ** 31n - 1n;
const int64Max = 2n ** 63n - 1n;

function isWhole(text: string, max: bigint): boolean {
  if (!/^-?\d{1,19}$/.test(text)) return false;
  const value = BigInt(text);
  return value <= max && value >= -max - 1n;
}

const rules: Partial<Record<EdmType, readonly [isValid: (text: string) => boolean, what: string]>> =
  {
    "Edm.Int32": [(text) => isWhole(text, int32Max), "a whole number of 32 bits"],
    "Edm.Int64": [(text) => isWhole(text, int64Max), "a whole number of 64 bits"],
    "Edm.Double": [
      (text) => /^(NaN|-?Infinity)$/.test(text) || (text !== "" && !Number.isNaN(Number(text))),
      "a number",
    ],
    "Edm.Boolean": [(text) => text === "true" || text === "false", "true or false"],
    "Edm.Guid": [
      (text) => /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text),
      "a GUID such as 01234567-89ab-cdef-0123-456789abcdef",
    ],
    "Edm.DateTime": [
      (text) => !Number.isNaN(Date.parse(text)),
      "a time such as 2026-11-16T04:00:00Z",
    ],
  };

/** The first mistake, as a sentence that names the property. */
export function rowsProblem(rows: readonly NamedProperty[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, { name, type, text }] of rows.entries()) {
    if (name === "" && text === "") continue;
    if (name === "") return `Name of property ${at + 1} is empty.`;
    if (seen.has(name)) return `Name of property ${at + 1}: ${name} is there twice.`;
    seen.add(name);
    const [isValid, what] = rules[type] ?? [];
    if (isValid?.(text) === false) {
      return `Value of property ${at + 1}, ${name}: “${text}” is not ${what ?? ""}.`;
    }
  }
  return undefined;
}
