/** Options with which the system chooses all ports. */
export const freePorts = {
  blobPort: 0,
  queuePort: 0,
  tablePort: 0,
  filePort: 0,
  dfsPort: 0,
  smbPort: 0,
  adminPort: 0,
} as const;
