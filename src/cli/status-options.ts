import { parseCliArguments } from "./parse-cli-arguments.ts";

export interface StatusOptions {
  readonly url: string | undefined;
  readonly location: string | undefined;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly json: boolean;
  readonly watch: boolean;
}

const options = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  token: { type: "string" },
  tokenFile: { type: "string" },
  json: { type: "boolean" },
  watch: { type: "boolean" },
} as const;

/** Parses the words after `etagere status`. */
export function parseStatusOptions(
  words: readonly string[],
): StatusOptions | { readonly problem: string } {
  const read = parseCliArguments(words, options);
  if (!read.ok) return read;
  const { texts, switches, others } = read;
  if (others.length > 0) return { problem: "only options are accepted, not other words" };
  const url = texts.get("url");
  if (url !== undefined && !/^https?:\/\//.test(url)) {
    return { problem: "--url must begin with http:// or https://" };
  }
  return {
    url,
    location: texts.get("location"),
    token: texts.get("token"),
    tokenFile: texts.get("tokenFile"),
    json: switches.has("json"),
    watch: switches.has("watch"),
  };
}
