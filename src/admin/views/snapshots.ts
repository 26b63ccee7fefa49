import { SnapshotError, type SnapshotProblem } from "../../store/saved-states/saved-states.ts";
import { json, nothing, refuse } from "../admin-response.ts";
import { textCheck } from "../inputs.ts";
import { declareRoute, type Route } from "../routes.ts";
import { refusePage, type CheckedRequest } from "../request.ts";

/** Routes that save and restore the complete state of all accounts, for tests that need the same
 *  data again and again (`etagere snapshot`). */

const statuses: Readonly<Partial<Record<SnapshotProblem, number>>> = {
  SnapshotNotFound: 404,
  SnapshotAlreadyExists: 409,
};

const acceptsAnyQuery = true;

export const snapshotRoutes: readonly Route[] = [
  declareRoute(
    "GET /admin/v1/snapshots",
    "server",
    guarded(({ context }) => json({ snapshots: context.snapshots.list() })),
  ),
  declareRoute(
    "POST /admin/v1/snapshots",
    "server",
    changing((snapshots, { body: { name } }) =>
      snapshots.save(typeof name === "string" ? name : ""),
    ),
    { acceptsAnyQuery, body: { name: textCheck } },
  ),
  declareRoute(
    "POST /admin/v1/snapshots/:snapshot/restore",
    "server",
    changing((snapshots, _, name) => snapshots.restore(name)),
    { acceptsAnyQuery, body: {} },
  ),
  declareRoute(
    "DELETE /admin/v1/snapshots/:snapshot",
    "server",
    changing((snapshots, _, name) => snapshots.delete(name)),
    { acceptsAnyQuery },
  ),
];

/** Makes the function of a route from a change of the snapshots: it answers without a body. */
function changing(
  change: (
    snapshots: CheckedRequest["context"]["snapshots"],
    request: CheckedRequest,
    name: string,
  ) => Promise<unknown>,
): Route["answer"] {
  return guarded(async (request, { snapshot = "" }) => {
    await change(request.context.snapshots, request, snapshot);
    return nothing;
  });
}

/** Makes a route reject requests of web pages, and answer a `SnapshotError` with its code. */
function guarded(answer: Route["answer"]): Route["answer"] {
  return async (request, values) => {
    const refusal = refusePage(request);
    if (refusal !== undefined) return refusal;
    try {
      return await answer(request, values);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      return refuse(statuses[error.code] ?? 400, error.code, error.message);
    }
  };
}
