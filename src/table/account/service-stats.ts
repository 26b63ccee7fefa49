import { declareServiceStats } from "../../account/declare-service-stats.ts";
import { timeout } from "../../operation/common-params.ts";

export const getTableServiceStats = declareServiceStats({ title: "Table", params: { timeout } });
