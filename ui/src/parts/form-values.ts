/** What was typed into a field; files and absent fields count as empty. */
export function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value : "";
}
