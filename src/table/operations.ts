import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { entityGroupTransaction } from "./service/transaction.ts";
import {
  deleteEntity,
  rejectDeleteBelowTable,
  insertEntity,
  insertOrMergeEntity,
  insertOrReplaceEntity,
  mergeEntity,
  updateEntity,
} from "./entity/change-entity.ts";
import { getEntity, queryEntities } from "./query/query-entities.ts";
import {
  createTable,
  deleteTable,
  getTable,
  queryTables,
  getTableAcl,
  setTableAcl,
} from "./tables/tables.ts";

/** All operations of the Table service; `service.ts` passes them to `http`, which compiles their
 *  routes. The order matters only between routes with equally many requirements: the first that
 *  matches is used. */
export const operations: readonly Operation[] = [
  ...declareServiceProperties("table"),
  declareUserDelegationKey("table", { since: "2026-02-06" }),
  declarePreflight("table", "Preflight Table Request"),
  entityGroupTransaction,
  queryTables,
  getTable,
  createTable,
  deleteTable,
  getTableAcl,
  setTableAcl,
  queryEntities,
  getEntity,
  insertEntity,
  updateEntity,
  mergeEntity,
  deleteEntity,
  rejectDeleteBelowTable,
  insertOrReplaceEntity,
  insertOrMergeEntity,
];
