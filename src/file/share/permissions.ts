import { invalidHeader } from "../../protocol/faults.ts";
import { noETag } from "../../operation/operation.ts";
import { checked, header, required, text } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { permissions } from "../records.ts";
import { operation } from "../resources.ts";
import { isSddl, permissionKeyForm, wellKnownSddl } from "../shared/sddl.ts";
import { permissionFormat } from "../shared/smb-params.ts";
import { storePermission } from "../shared/smb-properties.ts";
import { createPermissionNeed, getPermissionNeed } from "../../protocol/roles/action-need.ts";
import { sddlFromBinary, sddlToBinary } from "../shared/descriptor-bytes.ts";

/** The REST operations on security descriptors, which a share stores by key. */

const query = { restype: "share", comp: "filepermission" };
/** Longest request body; a longer one is a fault. `isSddl` limits the descriptor in it. */
const permissionBytesMax = 32 * 1024;

/** Stores a security descriptor and returns its key. For descriptors that are too long for a
 *  header. learn.microsoft.com/rest/api/storageservices/create-permission */
export const createPermission = operation({
  name: "Create Permission",
  ids: ["Share_CreatePermission"],
  route: { method: "PUT", resource: "share", query },
  since: "2019-02-02",
  params: { format: permissionFormat },
  body: { kind: "bytes", bytesMax: permissionBytesMax, parse: parseBody },
  permission: {
    letters: "w",
    resourceType: "c",
    actions: createPermissionNeed,
    needsIntent: true,
  },
  target: "must-exist",
  ...noETag,
  status: 201,
  decide: ({ target, input }) => {
    const { permission, format = input.format } = input.body;
    const isBinary = format === "binary";
    const sddl = isBinary ? sddlFromBinary(permission) : permission;
    if (sddl === undefined || !isSddl(sddl)) return fail("FileInvalidPermission");
    const { key, effects } = storePermission(target.id, sddl);
    return { effects, headers: { "x-ms-file-permission-key": key } };
  },
});

interface PermissionBody {
  readonly permission: string;
  readonly format?: string;
}

function parseBody(bytes: Uint8Array): Result<PermissionBody> {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof parsed !== "object" || parsed === null) return fail("InvalidInput");
    const { permission, format } = parsed as Record<string, unknown>;
    if (typeof permission !== "string") return fail("InvalidInput");
    return ok(
      typeof format === "string" ? { permission, format: format.toLowerCase() } : { permission },
    );
  } catch {
    return fail("InvalidInput");
  }
}

const key = checked(required(header("x-ms-file-permission-key", text)), (value) =>
  permissionKeyForm.test(value) ? ok(value) : invalidHeader("x-ms-file-permission-key", value),
);

/** Returns the security descriptor for which a permission key stands. Responses about files contain
 *  such a key (`x-ms-file-permission-key`) in place of the descriptor. */
export const getPermission = operation({
  name: "Get Permission",
  ids: ["Share_GetPermission"],
  route: { method: "GET", resource: "share", query },
  since: "2019-02-02",
  params: { key, format: permissionFormat },
  permission: { letters: "r", resourceType: "c", actions: getPermissionNeed, needsIntent: true },
  target: "must-exist",
  ...noETag,
  reads: (view, { target, input }) => view.get(permissions, { share: target.id, key: input.key }),
  decide: ({ input, readResult }) => {
    const found = readResult?.sddl ?? wellKnownSddl(input.key);
    if (found === undefined) return invalidHeader("x-ms-file-permission-key", input.key);
    const binary = input.format === "binary" ? sddlToBinary(found) : undefined;
    if (input.format === "binary" && binary === undefined) return fail("FileInvalidPermission");
    const given = input.format === undefined ? {} : { format: input.format };
    const json = JSON.stringify({ permission: binary ?? found, ...given });
    return { body: { type: "application/json", text: json } };
  },
});
