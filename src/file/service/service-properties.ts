import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";

const form = { title: "File", since: "2015-02-21" } as const;

export const getFileServiceProperties = declareGetServiceProperties("file", form);
export const setFileServiceProperties = declareSetServiceProperties("file", form);
