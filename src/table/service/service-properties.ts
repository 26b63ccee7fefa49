import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";
import { timeout } from "../../operation/common-params.ts";
import { declareServiceStats } from "../../account/declare-service-stats.ts";

const declarationOptions = { title: "Table", since: "2009-09-19", params: { timeout } } as const;

export const getTableServiceProperties = declareGetServiceProperties("table", declarationOptions);
export const setTableServiceProperties = declareSetServiceProperties("table", declarationOptions);
export const getTableServiceStats = declareServiceStats({ title: "Table", params: { timeout } });
