import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { BucketDefaults } from "../content/s3/bucket-location.ts";
import type { Credentials } from "../content/s3/signature.ts";
import { environmentVariable } from "./world.ts";

type Variable = (name: string) => string | undefined;

export interface AwsSettings extends BucketDefaults {
  readonly credentials: Credentials;
}

/** Reads credentials and region from the AWS_* variables, else from the files of the AWS tools. */
export async function readAwsSettings(
  variable: Variable = environmentVariable,
): Promise<AwsSettings> {
  const profile = variable("AWS_PROFILE") ?? "default";
  const folder = join(homedir(), ".aws");
  const path = variable("AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials");
  const secrets = sectionOf(await textOf(path), [profile]);
  const config = sectionOf(await textOf(variable("AWS_CONFIG_FILE") ?? join(folder, "config")), [
    profile,
    `profile ${profile}`,
  ]);
  const credentials =
    credentialsIn(variable, (name) => name.toUpperCase()) ??
    credentialsIn((name) => secrets.get(name) ?? config.get(name));
  if (credentials === undefined) {
    throw new Error(
      `set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give profile ${profile} in ${path}`,
    );
  }
  const region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? config.get("region");
  const endpoint =
    variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? config.get("endpoint_url");
  return { credentials, region, endpoint };
}

function credentialsIn(
  value: Variable,
  spell: (name: string) => string = (name) => name,
): Credentials | undefined {
  const accessKeyId = value(spell("aws_access_key_id"));
  const secretAccessKey = value(spell("aws_secret_access_key"));
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: value(spell("aws_session_token")) };
}

function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** The values in all sections of an AWS file that have one of these headings, by name. */
export function sectionOf(text: string, headings: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isWanted = false;
  for (const line of text.split("\n")) {
    const heading = /^\s*\[([^\]]+)\]/.exec(line)?.[1]?.trim();
    if (heading !== undefined) isWanted = headings.includes(heading);
    const pair = /^\s*(\w+)\s*=\s*(\S+)/.exec(line);
    if (pair !== null && isWanted) values.set(pair[1] ?? "", pair[2] ?? "");
  }
  return values;
}
