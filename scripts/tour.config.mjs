// Vite's configuration for the tour: one file with the client libraries that it uses, which neither
// the npm package nor the executable installs.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = fileURLToPath(new URL("../src/index.ts", import.meta.url));

/** The tour starts the server that is installed, instead of containing another one. */
const installedServer = {
  name: "etagere-installed-server",
  resolveId: {
    order: "pre",
    filter: { id: /\/src\/index\.ts$/ },
    async handler(source, importer, options) {
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      return found?.id === server ? { id: "./index.js", external: "relative" } : found;
    },
  },
};

export default defineConfig({
  root,
  publicDir: false,
  plugins: [installedServer],
  ssr: { noExternal: true },
  build: {
    ssr: "examples/tour/print-tour.ts",
    outDir: "dist",
    emptyOutDir: false,
    target: "node20",
    minify: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: { entryFileNames: "tour.js", codeSplitting: false },
    },
  },
});
