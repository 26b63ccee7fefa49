import { pathToFileURL } from "node:url";

/** An operation that the newest official JavaScript libraries can send. */
export interface ClientOperation {
  readonly service: ClientService;
  /** As in Microsoft's OpenAPI documents: `Blob_SetMetadata`. */
  readonly id: string;
  /** Names of request headers; that of metadata ends with `-*`. */
  readonly headers: readonly string[];
  readonly queries: readonly string[];
}

export type ClientService = "blob" | "dfs" | "file" | "queue" | "table";

/** The generated code of each library. The packages of `newest-…` need a newer Node.js than this
 *  project, so only their generated modules are imported, which run on every version. */
const libraries: Readonly<Record<Exclude<ClientService, "queue">, string>> = {
  blob: "newest-storage-blob/dist/esm/generated/src/operations/index.js",
  dfs: "newest-storage-file-datalake/dist/esm/generated/src/operations/index.js",
  file: "newest-storage-file-share/dist/esm/generated/src/operations/index.js",
  table: "@azure/data-tables/dist/esm/generated/operations/index.js",
};
const queueModules = ["queue", "service"].map(
  (group) => [group, `newest-storage-queue/dist/esm/generated/api/${group}/operations.js`] as const,
);

export async function clientOperations(): Promise<readonly ClientOperation[]> {
  const specified = await Promise.all(
    Object.entries(libraries).map(([service, path]) =>
      specifiedOperations(service as ClientService, path),
    ),
  );
  const queue = await Promise.all(
    queueModules.map(([group, path]) => queueOperations(group, path)),
  );
  return [...specified.flat(), ...queue.flat()];
}

function load<T>(path: string): Promise<T> {
  const url = new URL(path, pathToFileURL(`${process.cwd()}/node_modules/`));
  return import(/* @vite-ignore */ url.href) as Promise<T>;
}

interface ParameterSpec {
  readonly mapper: { readonly serializedName: string; readonly headerCollectionPrefix?: string };
}

interface OperationSpec {
  readonly headerParameters?: readonly ParameterSpec[];
  readonly queryParameters?: readonly ParameterSpec[];
}

type Methods = Readonly<Record<string, () => unknown>>;
type OperationsClass = new (client: object) => Methods;

/** The operations of a library whose methods pass a specification to the client. */
async function specifiedOperations(
  service: ClientService,
  path: string,
): Promise<readonly ClientOperation[]> {
  const classes = await load<Readonly<Record<string, OperationsClass>>>(path);
  return Object.entries(classes).flatMap(([className, Operations]) => {
    let spec: OperationSpec = {};
    const client = {
      sendOperationRequest: (_: unknown, sent: OperationSpec) => {
        spec = sent;
      },
    };
    const methods = new Operations(client);
    const prototype: object = Operations.prototype as object;
    const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
    return names.map((name) => {
      methods[name]?.();
      const { headerParameters = [], queryParameters = [] } = spec;
      return {
        service,
        id: idOf(className.replace(/(Operations)?Impl$/, ""), name),
        headers: headerParameters.map(headerName),
        queries: queryParameters.map(({ mapper }) => mapper.serializedName),
      };
    });
  });
}

function headerName({ mapper }: ParameterSpec): string {
  return mapper.headerCollectionPrefix === undefined
    ? mapper.serializedName
    : `${mapper.headerCollectionPrefix}*`;
}

function idOf(group: string, method: string): string {
  const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  return `${capitalized(group)}_${capitalized(method)}`;
}

interface SentRequest {
  readonly headers?: object;
}

/** The operations of the queue library: functions that build a request from their options. */
async function queueOperations(group: string, path: string): Promise<readonly ClientOperation[]> {
  const functions = await load<Readonly<Record<string, (...words: unknown[]) => void>>>(path);
  return Object.entries(functions).flatMap(([name, build]) => {
    const [, method] = /^_\$?(\w+)Send$/.exec(name) ?? [];
    if (method === undefined) return [];
    let found: ClientOperation | undefined;
    const requestTo = (target: string) => (request: SentRequest) => {
      found = {
        service: "queue",
        id: idOf(group, method),
        headers: Object.keys(request.headers ?? {}),
        queries: [...target.matchAll(/[?&](\w+)=/g)].map(([, query = ""]) => query),
      };
    };
    const send = (target: string) => new Proxy({}, { get: () => requestTo(target) });
    // Every option is set, so that every parameter is sent.
    const options = new Proxy(
      {},
      { get: (_, option) => (option === "requestOptions" ? {} : [String(option)]) },
    );
    const words = Array.from({ length: build.length - 1 }, () => "word");
    build({ version: "", path: send }, ...words, options);
    return found === undefined ? [] : [found];
  });
}
