import {
  declareGetServiceProperties,
  declareSetServiceProperties,
} from "../../account/declare-service-properties.ts";
import { declareServiceStats } from "../../account/declare-service-stats.ts";

const form = { title: "Queue", since: "2009-09-19", noCache: true } as const;

export const getQueueServiceProperties = declareGetServiceProperties("queue", form);
export const setQueueServiceProperties = declareSetServiceProperties("queue", form);
export const getQueueServiceStats = declareServiceStats({ title: "Queue", noCache: true });
