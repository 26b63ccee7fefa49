import { metadata } from "../../operation/common-params.ts";
import { fileOperation } from "../file-operation.ts";
import { createdHeaderNames, createNode, nodeCreation } from "../shared/create-node.ts";
import { keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import { readCreationSddl } from "../shared/smb-properties.ts";

/** learn.microsoft.com/rest/api/storageservices/create-directory */
export const createDirectory = fileOperation({
  ...nodeCreation,
  name: "Create Directory",
  ids: ["Directory_Create"],
  route: { method: "PUT", resource: "directory", query: { restype: "directory" } },
  since: "2015-02-21",
  params: {
    metadata,
    smb: smbProperties({ words: ["now", "none"], requiredOnce: true, creates: true }),
    keepsTrailingDots,
  },
  event: "CreateDirectory",
  success: { status: 201, headers: createdHeaderNames },
  reads: (view, { scope, input }) => readCreationSddl(view, scope, input.smb),
  decide: (context) =>
    createNode(context, {
      kind: "directory",
      permission: { ...context.readResult, creates: true },
    }),
});
