import type { Accounts } from "../account/settings.ts";
import type { Meter } from "../core/meter.ts";
import type { ServiceName } from "../core/operation.ts";
import type { Clock, Log, Random } from "../core/world.ts";
import type { Engines } from "./engines.ts";
import type { Handler } from "./listener.ts";
import type { Options } from "./options.ts";

/** Everything a service needs of its surroundings. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly meter: Meter;
  readonly accounts: Accounts;
  readonly engines: Engines;
  readonly options: Options;
}

export interface ServedService {
  readonly name: ServiceName;
  readonly title: string;
  readonly handler: (world: World) => Handler;
}

/** The services that exist: each gets its listener, its line and its place in the URLs. */
export const services: readonly ServedService[] = [
  { name: "blob", title: "Blob", handler: () => refuseAll },
];

/** Stands in until the pipeline is joined to the server. */
const refuseAll: Handler = (request, response) => {
  request.resume();
  response.writeHead(501, { "Content-Length": 0 }).end();
};
