import { boolean, header, oneOf } from "../../protocol/params.ts";

/** Whether a property of the target comes from the source or from the request (`override`). */
export const permissionMode = header("x-ms-file-permission-copy-mode", oneOf("source", "override"));
export const ignoresReadOnly = header("x-ms-file-copy-ignore-readonly", boolean);
export const setsArchive = header("x-ms-file-copy-set-archive", boolean);
export const modeMode = header("x-ms-file-mode-copy-mode", oneOf("source", "override"));
export const ownerMode = header("x-ms-file-owner-copy-mode", oneOf("source", "override"));
