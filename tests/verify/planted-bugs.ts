import type { Lie, Passed, Passing } from "./lying-proxy.ts";

/** Bugs that servers have had, as a client sees them. */
export interface PlantedBug {
  readonly bug: string;
  readonly workload: string;
  /** Part of the checker's expected message. */
  readonly said: RegExp;
  readonly lie: () => Lie;
}

/** Returns true every `rate`-th time. */
export function sometimes(rate: number): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % rate === 0;
  };
}

const isLeaseAction = ({ path }: Passing): boolean => path.includes("comp=lease");
const isWrite = ({ method }: Passing): boolean => method === "PUT";

/** If-Match is checked before the transaction, and sometimes not at all. */
function commitWithoutValidation(): Lie {
  const isDue = sometimes(5);
  return (passing, forward) => {
    const { "if-match": condition, ...headers } = passing.headers;
    const isHit = isWrite(passing) && condition !== undefined && isDue();
    return forward(isHit ? { ...passing, headers } : passing);
  };
}

/** A write without a lease id succeeds just after another client acquired the lease. */
function leaseCheckOutsideTransaction(): Lie {
  const holders = new Map<string, string>();
  const isDue = sometimes(3);
  const blobOf = (path: string): string => path.split("?")[0] ?? "";
  return async (passing, forward) => {
    const { path, headers } = passing;
    if (isLeaseAction(passing)) {
      const passed = await forward(passing);
      const id = passed.headers["x-ms-lease-id"];
      if (passed.status === 201 && typeof id === "string") holders.set(blobOf(path), id);
      return passed;
    }
    const holder = holders.get(blobOf(path));
    const intrudes = isWrite(passing) && headers["x-ms-lease-id"] === undefined && isDue();
    if (!intrudes || holder === undefined || headers["if-none-match"] !== undefined) {
      return forward(passing);
    }
    return forward({ ...passing, headers: { ...headers, "x-ms-lease-id": holder } });
  };
}

/** Acquire succeeds for a lease that another client holds. */
function twoHolders(): Lie {
  const isDue = sometimes(4);
  return async (passing, forward) => {
    const passed = await forward(passing);
    const isAcquire = passing.headers["x-ms-lease-action"] === "acquire";
    const id = passing.headers["x-ms-proposed-lease-id"];
    if (!isAcquire || passed.status !== 409 || !isDue()) return passed;
    return { status: 201, headers: { "x-ms-lease-id": id }, body: Buffer.alloc(0) };
  };
}

/** The response is sent before a power loss. */
function acknowledgeBeforeFlush(): Lie {
  const isDue = sometimes(10);
  let etags = 0;
  return (passing, forward) => {
    const isPlain = isWrite(passing) && passing.headers["x-ms-blob-type"] === "BlockBlob";
    const isHit = isPlain && passing.headers["if-none-match"] === undefined && isDue();
    if (!isHit) return forward(passing);
    etags += 1;
    const headers = { etag: `"0xLOST${etags}"` };
    return Promise.resolve({ status: 201, headers, body: Buffer.alloc(0) });
  };
}

/** Reads are served from a stale cache. */
function staleReads(): Lie {
  const cache = new Map<string, Passed>();
  const isDue = sometimes(4);
  return async (passing, forward) => {
    const cached = cache.get(passing.path);
    if (passing.method === "GET" && cached !== undefined && isDue()) return cached;
    const passed = await forward(passing);
    if (passing.method === "GET" && passed.status === 200) cache.set(passing.path, passed);
    return passed;
  };
}

/** A request that arrives twice is executed twice. */
function repeatedAppend(): Lie {
  const isDue = sometimes(10);
  return async (passing, forward) => {
    const passed = await forward(passing);
    if (passing.path.includes("comp=appendblock") && passed.status === 201 && isDue()) {
      await forward(passing);
    }
    return passed;
  };
}

/** A rejected append leaves its bytes in the blob. */
function refusedButDone(): Lie {
  return async (passing, forward) => {
    const passed = await forward(passing);
    if (passed.status === 412 && passing.path.includes("comp=appendblock")) {
      const { "x-ms-blob-condition-appendpos": _position, ...headers } = passing.headers;
      await forward({ ...passing, headers });
    }
    return passed;
  };
}

/** The first part of a transaction is visible before the others. */
function tornTransaction(): Lie {
  return async (passing, forward) => {
    const text = passing.body.toString();
    const parts = text.split("--changes\r\n").slice(1);
    if (!passing.path.includes("$batch") || !text.includes("MERGE") || parts.length < 2) {
      return forward(passing);
    }
    const head = text.slice(0, text.indexOf("--changes\r\n"));
    const end = "--changes--\r\n\r\n--batch--\r\n";
    let passed: Passed | undefined;
    for (const part of parts) {
      const body = Buffer.from(`${head}--changes\r\n${part.replace(end, "")}${end}`);
      passed = await forward({ ...passing, body });
      if (!passed.body.includes("HTTP/1.1 204")) return passed;
    }
    return passed!;
  };
}

/** Transactions ignore their ETags. */
function transactionWithoutValidation(): Lie {
  return (passing, forward) => {
    const text = passing.body.toString().replaceAll(/If-Match: .*\r\n/g, "If-Match: *\r\n");
    return forward(
      passing.path.includes("$batch") ? { ...passing, body: Buffer.from(text) } : passing,
    );
  };
}

/** A consumer's old pop receipt still works. */
function receiptNotRenewed(): Lie {
  const latest = new Map<string, string>();
  return async (passing, forward) => {
    const id = /\/messages\/([^?]+)/.exec(passing.path)?.[1];
    const real = id === undefined ? undefined : latest.get(id);
    const receipt = encodeURIComponent(real ?? "");
    const path = passing.path.replace(/popreceipt=[^&]*/, `popreceipt=${receipt}`);
    const passed = await forward(real === undefined ? passing : { ...passing, path });
    const renewed = passed.headers["x-ms-popreceipt"];
    if (id !== undefined && typeof renewed === "string") latest.set(id, renewed);
    if (passing.method !== "GET") return passed;
    const pattern = /<MessageId>(.*?)<\/MessageId>(.*?)<PopReceipt>(.*?)<\/PopReceipt>/gs;
    for (const [, message = "", , given = ""] of passed.body.toString().matchAll(pattern)) {
      latest.set(message, given);
    }
    return passed;
  };
}

/** A consumer receives a message that another has just received. */
function noVisibilityWindow(): Lie {
  const isDue = sometimes(3);
  let last: Passed | undefined;
  return async (passing, forward) => {
    const isGet = passing.method === "GET" && passing.path.includes("/messages?");
    if (isGet && last !== undefined && isDue()) return last;
    const passed = await forward(passing);
    if (isGet && passed.body.includes("QueueMessage>")) last = passed;
    return passed;
  };
}

/** A message is acknowledged and lost. */
function forgottenMessage(): Lie {
  const isDue = sometimes(10);
  return (passing, forward) =>
    passing.method === "POST" && isDue()
      ? Promise.resolve({ status: 201, headers: {}, body: Buffer.alloc(0) })
      : forward(passing);
}

/** For a moment the directory is in neither place. */
function renameThatCopies(): Lie {
  const hidden = new Set<string>();
  return async (passing, forward) => {
    const box = /\/(box\d+)/.exec(passing.path)?.[1] ?? "";
    if (passing.method === "GET" && hidden.has(box)) {
      return { status: 404, headers: {}, body: Buffer.alloc(0) };
    }
    const passed = await forward(passing);
    if (passing.path.includes("comp=rename") && passed.status < 300) {
      hidden.add(box);
      setTimeout(() => hidden.delete(box), 20);
    }
    return passed;
  };
}

/** A delete-pending file appears deleted. */
function deletePendingIgnored(): Lie {
  return async (passing, forward) => {
    const passed = await forward(passing);
    if (passed.headers["x-ms-error-code"] !== "DeletePending") return passed;
    const headers = { ...passed.headers, "x-ms-error-code": "ResourceNotFound" };
    return { ...passed, status: 404, headers };
  };
}

/** A REST write is acknowledged although an SMB client has the file exclusively. */
function smbLockIgnored(): Lie {
  return async (passing, forward) => {
    const passed = await forward(passing);
    const isRefused = passed.status === 409 && passing.path.includes("comp=range");
    return isRefused ? { status: 201, headers: {}, body: Buffer.alloc(0) } : passed;
  };
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    bug: "commit without validation",
    workload: "blob register",
    said: /no order explains/,
    lie: commitWithoutValidation,
  },
  {
    bug: "commit without validation",
    workload: "entity register",
    said: /no order explains/,
    lie: commitWithoutValidation,
  },
  {
    bug: "acknowledge before flush",
    workload: "blob register",
    said: /no order explains/,
    lie: acknowledgeBeforeFlush,
  },
  { bug: "stale reads", workload: "blob register", said: /no order explains/, lie: staleReads },
  {
    bug: "lease check outside the transaction",
    workload: "lease",
    said: /no order explains/,
    lie: leaseCheckOutsideTransaction,
  },
  { bug: "two holders", workload: "lease", said: /no order explains/, lie: twoHolders },
  { bug: "two holders", workload: "timed lease", said: /both held it/, lie: twoHolders },
  {
    bug: "lease check outside the transaction",
    workload: "timed lease",
    said: /wrote while/,
    lie: leaseCheckOutsideTransaction,
  },
  { bug: "repeated append", workload: "append", said: /is there twice/, lie: repeatedAppend },
  { bug: "refused, but done", workload: "append", said: /was refused, but/, lie: refusedButDone },
  { bug: "stale reads", workload: "append", said: /missed/, lie: staleReads },
  { bug: "torn transaction", workload: "transaction", said: /torn read/, lie: tornTransaction },
  {
    bug: "transaction without validation",
    workload: "transaction",
    said: /lost update/,
    lie: transactionWithoutValidation,
  },
  { bug: "stale reads", workload: "transaction", said: /against real time/, lie: staleReads },
  {
    bug: "receipt not renewed",
    workload: "queue",
    said: /receipt that was renewed/,
    lie: receiptNotRenewed,
  },
  {
    bug: "no visibility window",
    workload: "queue",
    said: /before its time/,
    lie: noVisibilityWindow,
  },
  {
    bug: "rename that copies",
    workload: "move",
    said: /no order explains/,
    lie: renameThatCopies,
  },
  {
    bug: "delete-pending ignored",
    workload: "smb lock",
    said: /no order explains/,
    lie: deletePendingIgnored,
  },
  { bug: "SMB lock ignored", workload: "smb lock", said: /no order explains/, lie: smbLockIgnored },
  { bug: "forgotten message", workload: "queue", said: /never delivered/, lie: forgottenMessage },
];
