import { readSecretFile } from "../server/secret-options.ts";

export interface TokenOptions {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The admin token that the options or the environment name; undefined if they do not. Throws if
 *  the file cannot be read. */
export async function adminTokenOf({
  token,
  tokenFile,
}: TokenOptions): Promise<string | undefined> {
  if (token !== undefined) return token;
  if (tokenFile === undefined) return process.env["ETAGERE_ADMIN_TOKEN"];
  const read = await readSecretFile(tokenFile);
  if (!read.ok) throw new Error(`--tokenFile: ${read.problems.join("; ")}`);
  return read.value;
}
