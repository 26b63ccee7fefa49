import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";

const options = { title: "File", since: "2015-02-21" } as const;

/** All services share these two operations; only title and first version differ. */
export const getFileServiceProperties = declareGetServiceProperties("file", options);
export const setFileServiceProperties = declareSetServiceProperties("file", options);
