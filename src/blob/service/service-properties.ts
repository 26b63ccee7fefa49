import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";

const form = { title: "Blob", since: "2009-09-19" } as const;

export const getBlobServiceProperties = declareGetServiceProperties("blob", form);
export const setBlobServiceProperties = declareSetServiceProperties("blob", form);
