/** A filter by name. The services filter by prefix; the page filters by substring itself. */
export interface NameFilter {
  readonly text: string;
  readonly mode: "prefix" | "contains";
}

/** The prefix to send to the service. */
export function prefixOf({ text, mode }: NameFilter): string {
  return mode === "prefix" ? text : "";
}

/** A test of names for a substring, without regard to case; undefined if the service filters. */
export function substringTest({ text, mode }: NameFilter): ((name: string) => boolean) | undefined {
  if (mode === "prefix" || text === "") return undefined;
  const wanted = text.toLowerCase();
  return (name) => name.toLowerCase().includes(wanted);
}
