export type ServiceName = "blob" | "queue" | "table" | "file";
