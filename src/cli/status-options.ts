export interface StatusOptions {
  readonly url: string | undefined;
  readonly location: string | undefined;
  readonly token: string | undefined;
  readonly json: boolean;
  readonly watch: boolean;
}

export const statusUsage =
  "usage: etagere status [--location FOLDER | --url URL] [--token TOKEN] [--json] [--watch]";

const valued: ReadonlySet<string> = new Set(["--url", "--location", "-l", "--token"]);
const switches: ReadonlySet<string> = new Set(["--json", "--watch"]);

/** Undefined if they cannot be understood. */
export function parseStatusOptions(words: readonly string[]): StatusOptions | undefined {
  const values = new Map<string, string>();
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const at = word.startsWith("--") ? word.indexOf("=") : -1;
    const name = at < 0 ? word : word.slice(0, at);
    if (switches.has(name) && at < 0) {
      values.set(name, "");
      continue;
    }
    if (at < 0) index += 1;
    const value = at < 0 ? words[index] : word.slice(at + 1);
    if (!valued.has(name) || value === undefined || value === "") return undefined;
    values.set(name === "-l" ? "--location" : name, value);
  }
  const url = values.get("--url");
  if (url !== undefined && !/^https?:\/\//.test(url)) return undefined;
  return {
    url,
    location: values.get("--location"),
    token: values.get("--token"),
    json: values.has("--json"),
    watch: values.has("--watch"),
  };
}
