import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";
import { declareServiceStats } from "../../account/declare-service-stats.ts";

const declarationOptions = { title: "Blob", since: "2009-09-19" } as const;

export const getBlobServiceProperties = declareGetServiceProperties("blob", declarationOptions);
export const setBlobServiceProperties = declareSetServiceProperties("blob", declarationOptions);
export const getBlobServiceStats = declareServiceStats({ title: "Blob" });
