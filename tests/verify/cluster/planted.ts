import { databaseTicks } from "../../../src/store/postgres/database-time.ts";
import { queryOnce } from "../../postgres/database.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterFault } from "./faults.ts";

/** What happens to a primary that was replaced and returns, as far as one node is concerned. */
export type OldPrimary =
  /** The node stays with it. It commits nothing, because its standby is gone. */
  | "read"
  /** The node stays with it, and it commits alone. */
  | "written";

/** A bug of nodes, database or set-up that only shows when the network or a machine fails. */
export interface ClusterBug {
  readonly name: string;
  readonly workloads: readonly string[];
  readonly faults: readonly ClusterFault[];
  readonly oldPrimary?: OldPrimary;
  readonly plant?: (cluster: Cluster) => Promise<void>;
}

const schemas = ["etagere", "etagere_ephemeral"];

/** Changes the function of the database that commits. */
async function changeCommit(cluster: Cluster, from: string, to: string): Promise<void> {
  const { url } = cluster.databases.primary.instance;
  for (const schema of schemas) {
    const definition = `SELECT pg_get_functiondef('${schema}.commit_batch'::regproc) AS text`;
    const [row] = (await queryOnce(url, definition)).rows as { readonly text: string }[];
    if (row?.text.includes(from) !== true) throw new Error(`commit_batch has no "${from}"`);
    await queryOnce(url, row.text.replace(from, to));
  }
}

export const clusterBugs: readonly ClusterBug[] = [
  {
    name: "stale read from a former primary",
    workloads: ["blob register", "entity register", "append", "transaction"],
    faults: ["failover"],
    oldPrimary: "read",
  },
  {
    name: "no fencing of a former primary",
    workloads: ["blob register", "entity register", "append", "transaction", "lease"],
    faults: ["failover"],
    oldPrimary: "written",
  },
  {
    name: "batch applied twice",
    workloads: ["append", "queue", "transaction", "lease"],
    faults: ["lost responses", "lost connections"],
    plant: (cluster) => changeCommit(cluster, "earlier.number = batch_number", "false"),
  },
  {
    name: "failed commit acknowledged",
    workloads: ["append", "queue", "transaction", "blob register"],
    faults: ["failing flush"],
    async plant({ gate, nodes }) {
      for (const { port } of nodes) await gate.order({ port, lie: true });
    },
  },
  {
    name: "store time follows the clock of the database",
    workloads: ["timed lease", "queue"],
    faults: ["database clock jump", "killed node", "failover"],
    plant: (cluster) => changeCommit(cluster, "GREATEST(ticks, batch_ticks)", databaseTicks),
  },
];
