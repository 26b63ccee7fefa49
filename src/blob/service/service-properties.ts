import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";
import { declareServiceStats } from "../../account/declare-service-stats.ts";

const form = { title: "Blob", since: "2009-09-19" } as const;

export const getBlobServiceProperties = declareGetServiceProperties("blob", form);
export const setBlobServiceProperties = declareSetServiceProperties("blob", form);
export const getBlobServiceStats = declareServiceStats({ title: "Blob" });
