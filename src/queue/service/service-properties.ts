import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";
import { declareServiceStats } from "../../account/declare-service-stats.ts";

const declarationOptions = { title: "Queue", since: "2009-09-19", noCache: true } as const;

export const getQueueServiceProperties = declareGetServiceProperties("queue", declarationOptions);
export const setQueueServiceProperties = declareSetServiceProperties("queue", declarationOptions);
export const getQueueServiceStats = declareServiceStats({ title: "Queue", noCache: true });
