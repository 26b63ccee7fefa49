/** The value of a `datetime-local` field for an ISO time; empty without one. */
export function localTime(iso: string | undefined): string {
  if (iso === undefined || iso === "") return "";
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const minutes = date.getTimezoneOffset();
  return new Date(date.getTime() - minutes * 60_000).toISOString().slice(0, 16);
}

/** The ISO time of the value of a `datetime-local` field; undefined if it is empty. */
export function utcTime(local: string): string | undefined {
  const date = new Date(local);
  return local === "" || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
