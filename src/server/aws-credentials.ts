import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Credentials } from "../content/s3/signature.ts";
import { environmentVariable } from "./world.ts";

/** From the usual variables, or else from the file that Amazon's own tools keep. */
export async function readAwsCredentials(
  variable: (name: string) => string | undefined = environmentVariable,
): Promise<Credentials> {
  const accessKeyId = variable("AWS_ACCESS_KEY_ID");
  const secretAccessKey = variable("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, sessionToken: variable("AWS_SESSION_TOKEN") };
  }
  const path = variable("AWS_SHARED_CREDENTIALS_FILE") ?? join(homedir(), ".aws", "credentials");
  const profile = variable("AWS_PROFILE") ?? "default";
  const found = parseCredentials(await readFile(path, "utf8").catch(() => ""), profile);
  if (found !== undefined) return found;
  throw new Error(
    `set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give profile ${profile} in ${path}`,
  );
}

export function parseCredentials(text: string, profile: string): Credentials | undefined {
  const values = new Map<string, string>();
  let section = "";
  for (const line of text.split("\n")) {
    const heading = /^\s*\[([^\]]+)\]/.exec(line);
    if (heading !== null) section = heading[1]?.trim() ?? "";
    const pair = /^\s*(\w+)\s*=\s*(\S+)/.exec(line);
    if (pair !== null && section === profile) values.set(pair[1] ?? "", pair[2] ?? "");
  }
  const accessKeyId = values.get("aws_access_key_id");
  const secretAccessKey = values.get("aws_secret_access_key");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: values.get("aws_session_token") };
}
