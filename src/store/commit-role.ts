/** Which process commits the transactions of this one. */
export type CommitRole =
  | { readonly kind: "alone" }
  /** Commits its own transactions and those of its followers; listens on this Unix socket. */
  | { readonly kind: "leader"; readonly socket: string }
  /** Sends its commit batches to the leader that listens on this Unix socket. While the leader
   *  cannot be reached it commits alone. */
  | { readonly kind: "follower"; readonly socket: string };

/** Takes effect between two commit batches; resolves when it has. */
export type SetCommitRole = (role: CommitRole) => Promise<void>;
