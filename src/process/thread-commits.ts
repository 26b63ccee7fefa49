/** Counts the commits of the LMDB engine that run on threads, of all stores of this process. A
 *  thread keeps the write lock until its callback has run on the main thread, so a synchronous
 *  commit before that could deadlock: if the same file is open twice, or if another process is in
 *  the same situation. */
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
