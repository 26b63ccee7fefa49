import { Right, has } from "../files/access.ts";
import { nameOfStatus, type NtStatus } from "../status.ts";

/** A line of the audit log about SMB. */
export interface SmbAudit {
  readonly operation: string;
  /** `/account/share/path`, as far as they are known. */
  readonly resource: string;
  /** Name of the NTSTATUS, for example `STATUS_ACCESS_DENIED`. */
  readonly status: string;
  readonly who: object;
  /** Remote address and port. */
  readonly client: string;
  /** Further fields of the operation. */
  readonly details?: object | undefined;
}

export type WriteSmbAudit = (entry: SmbAudit) => void;

/** Longer resources are cut. */
const resourceUnitsMax = 2048;

export function resourceOf(account: string, share?: string, path: readonly string[] = []): string {
  const parts = [account, share ?? "", ...path].filter((part) => part !== "");
  return `/${parts.join("/")}`.slice(0, resourceUnitsMax);
}

/** `accessDenied` is `STATUS_ACCESS_DENIED`. */
export function statusName(status: NtStatus): string {
  const name = nameOfStatus(status);
  return `STATUS_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

const accessNames: readonly (readonly [number, string])[] = [
  [Right.readData, "read"],
  [Right.writeData | Right.appendData, "write"],
  [Right.execute, "execute"],
  [Right.delete, "delete"],
  [Right.writeAttributes, "attributes"],
  [Right.writeDac | Right.writeOwner, "security"],
];

/** What an access mask permits beside reading attributes. */
export function accessWords(access: number): readonly string[] {
  return accessNames.flatMap(([rights, name]) => (has(access, rights) ? [name] : []));
}

/** The names of the information classes that SET_INFO changes ([MS-FSCC] 2.4). */
export const setInfoNames: Readonly<Record<number, string>> = {
  4: "attributes",
  10: "rename",
  13: "delete",
  14: "position",
  16: "mode",
  19: "allocation",
  20: "length",
};
