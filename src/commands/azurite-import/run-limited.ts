/** Runs `work` for each item, at most `concurrencyMax` at a time. After the first failure no more
 *  work starts; the failure is thrown when the running work is complete. */
export async function runLimited<T>(
  items: AsyncIterable<T>,
  concurrencyMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      const task: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrencyMax) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
