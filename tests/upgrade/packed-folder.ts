import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** A data folder in one file: paths and bytes. */
type Packed = Readonly<Record<string, string>>;

export function packFolder(folder: string, file: string): void {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted();
  const packed: Packed = Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(folder, path)).toString("base64")]),
  );
  writeFileSync(file, gzipSync(JSON.stringify(packed), { level: 9 }));
}

export function unpackFolder(file: string, folder: string): void {
  const packed = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Packed;
  for (const [path, bytes] of Object.entries(packed)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.from(bytes, "base64"));
  }
}
