import { header, oneOf } from "../../protocol/params.ts";

/** The tiers of block blobs. */
export const blockTiers = ["Hot", "Cool", "Cold", "Archive"] as const;
export const pageTiers = [
  "P4",
  "P6",
  "P10",
  "P15",
  "P20",
  "P30",
  "P40",
  "P50",
  "P60",
  "P70",
  "P80",
] as const;

export const blockBlobTier = header("x-ms-access-tier", oneOf(...blockTiers));

export const defaultTier = "Hot";
