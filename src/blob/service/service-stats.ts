import { declareServiceStats } from "../../account/declare-service-stats.ts";

export const getBlobServiceStats = declareServiceStats({ title: "Blob" });
