import { plainElement, textElement } from "../../encoding/xml-writer.ts";
import { defaultAccess } from "../../protocol/posix-access.ts";
import {
  defaultUmask,
  formatAcl,
  formatPermissions,
  type PosixAccess,
} from "../../protocol/posix-acl.ts";
import type { BlobRecord } from "../records.ts";

const defaults = {
  file: defaultAccess("file", defaultUmask),
  directory: defaultAccess("directory", defaultUmask),
};

/** What a path of a hierarchical account is, in the words of both APIs. */
export function resourceType({ directory }: BlobRecord): "file" | "directory" {
  return directory === undefined ? "file" : "directory";
}

export function accessOf(record: BlobRecord): PosixAccess {
  return record.posix ?? defaults[resourceType(record)];
}

export const pathHeaderNames = [
  "x-ms-resource-type",
  "x-ms-owner",
  "x-ms-group",
  "x-ms-permissions",
  "x-ms-acl",
  "x-ms-encryption-context",
] as const;

/** The first version in which reads return the access control list. */
const aclSince = "2024-05-04";

/** What reads of a hierarchical account add to the headers of a blob. */
export function pathHeaders(record: BlobRecord, version: string) {
  const access = accessOf(record);
  return {
    "x-ms-resource-type": resourceType(record),
    "x-ms-owner": access.owner,
    "x-ms-group": access.group,
    "x-ms-permissions": formatPermissions(access),
    "x-ms-acl": version >= aclSince ? formatAcl(access) : undefined,
    "x-ms-encryption-context": record.encryptionContext,
  };
}

export function pathElements(record: BlobRecord, withPermissions: boolean): string {
  const type = plainElement("ResourceType", resourceType(record));
  if (!withPermissions) return type;
  const access = accessOf(record);
  return (
    textElement("Owner", access.owner) +
    textElement("Group", access.group) +
    plainElement("Permissions", formatPermissions(access)) +
    textElement("Acl", formatAcl(access)) +
    type
  );
}
