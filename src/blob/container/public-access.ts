import { header, oneOf } from "../../protocol/params.ts";

/** Absent means private. */
export const publicAccess = header("x-ms-blob-public-access", oneOf("container", "blob"));
