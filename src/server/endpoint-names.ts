/** The listeners of services; Data Lake is a second one of the blob service. */
export const endpointNames = ["blob", "queue", "table", "file", "dfs"] as const;

export type EndpointName = (typeof endpointNames)[number];

/** The SMB listener in messages. */
export const smbTitle = "SMB endpoint";
