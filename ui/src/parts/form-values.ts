/** The text of a form field; files and absent fields count as empty. */
export function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value : "";
}
