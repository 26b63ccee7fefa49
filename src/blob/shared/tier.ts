import { header, oneOf } from "../../core/params.ts";

/** Tiers of block blobs; page blobs have their own. */
export const blockBlobTier = header("x-ms-access-tier", oneOf("Hot", "Cool", "Cold", "Archive"));

export const defaultTier = "Hot";
