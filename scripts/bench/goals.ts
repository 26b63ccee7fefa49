/** Goals relative to Azurite and to a minimal `node:http` server (`plain-server.ts`). */
export interface Goal {
  readonly timesAzurite?: number;
  readonly shareOfPlain?: number;
  /** Rate of the slowest connection divided by the mean rate. */
  readonly slowestShare?: number;
}

export const goals: Readonly<Record<string, Goal>> = {
  "put-1k": { timesAzurite: 15, shareOfPlain: 0.3 },
  "get-1k": { timesAzurite: 12, shareOfPlain: 0.45 },
  "put-1m": { timesAzurite: 1.2, shareOfPlain: 0.8 },
  "get-8m": { timesAzurite: 1, shareOfPlain: 0.8 },
  "list-5000": { timesAzurite: 30 },
  "cas-hot": { timesAzurite: 60, slowestShare: 0.25 },
  "cas-1000": { timesAzurite: 10 },
  lease: { timesAzurite: 10 },
  "tbl-insert-1pk": { timesAzurite: 5 },
  "tbl-insert-Npk": { timesAzurite: 15 },
  "tbl-get": { timesAzurite: 8 },
  "tbl-merge": { timesAzurite: 5 },
  "egt-100": { timesAzurite: 10 },
  "tbl-query-1000": { timesAzurite: 3 },
  "q-put": { timesAzurite: 10 },
  "q-get-delete": { timesAzurite: 1000 },
};

export const anonymousMegabytesMax = 300;
/** CPU per request with the most stored objects, divided by that with the fewest. */
export const growthMax = 1.3;
