/** Counts the commits that run on threads, of all stores of this process. Such a thread keeps the
 *  write lock until its callback has run on the main thread. A synchronous commit meanwhile could
 *  deadlock: on the same file opened twice, or via another process in the same situation. */
let running = 0;

export function isThreadCommitting(): boolean {
  return running > 0;
}

export async function whileThreadCommits<T>(commit: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await commit();
  } finally {
    running -= 1;
  }
}
