import { declareServiceStats } from "../../account/declare-service-stats.ts";

export const getQueueServiceStats = declareServiceStats({ title: "Queue", noCache: true });
