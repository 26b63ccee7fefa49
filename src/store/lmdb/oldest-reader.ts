/** Returns the lowest transaction of the library's list of readers, which has one line of process,
 *  thread and transaction for each; undefined without readers. */
export function oldestReaderOf(list: string): number | undefined {
  const transactions = list
    .split("\n")
    .map((line) => Number(line.trim().split(/\s+/)[2] ?? ""))
    .filter((transaction) => transaction > 0);
  return transactions.length === 0 ? undefined : Math.min(...transactions);
}
