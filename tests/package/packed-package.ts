import { execFileSync } from "node:child_process";

export interface PackedPackage {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Packs a folder of the project; undefined as `destination` only lists the files. Uses the
 *  existing build: building again would remove files that other tests use. */
export function pack(folder: string, destination: string | undefined): PackedPackage {
  const target = destination === undefined ? "--dry-run" : `--pack-destination=${destination}`;
  const words = ["pack", folder, "--ignore-scripts", "--json", target];
  const output = execFileSync("npm", words, { encoding: "utf8", stdio: "pipe" });
  const [packed] = JSON.parse(output) as [PackedPackage];
  return packed;
}
