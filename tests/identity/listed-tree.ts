import type { RoleAssignmentInput } from "../../src/account/parse-identity.ts";
import { accountsOf, developmentAccount } from "../../src/account/settings.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";
import { rulesFrom } from "./rules.ts";

/** A filesystem "fff" whose access control lists permit others `open` and not `shut`. */
export interface ListedTree {
  readonly sim: SimBlob;
  /** Replaces the role assignments of the account. */
  readonly assign: (...roleAssignments: readonly RoleAssignmentInput[]) => void;
  /** Sends a Data Lake request; returns its status, and its error code if it has one. */
  readonly send: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<readonly (number | string)[]>;
}

export async function openListedTree(): Promise<ListedTree> {
  const sim = await simBlob({ hierarchicalNamespace: true });
  const send: ListedTree["send"] = async (method, path, headers = {}) => {
    const { status, code } = await sim.sendToDfs({ method, path, headers });
    return code === undefined ? [status] : [status, code];
  };
  await send("PUT", "/fff?resource=filesystem");
  const create = (path: string, kind: string, permissions: string) =>
    send("PUT", `/fff/${path}?resource=${kind}`, {
      "x-ms-permissions": permissions,
      "x-ms-umask": "0000",
    });
  await create("open", "directory", "0777");
  await create("open/file", "file", "0644");
  await create("shut", "directory", "0700");
  await create("shut/file", "file", "0600");
  await send("PATCH", "/fff/?action=setAccessControl", { "x-ms-permissions": "0755" });
  const assign = (...roleAssignments: readonly RoleAssignmentInput[]): void => {
    const roles = rulesFrom({ roleAssignments });
    const settings = { ...developmentAccount(), hierarchicalNamespace: true, roles };
    Object.assign(sim.http.accounts, accountsOf([settings]));
  };
  return { sim, assign, send };
}
