// Vite's configuration for the server that is installed: its compiled modules in a few files, because
// Node takes 0.5 s to load several hundred of them one by one.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const compiled = fileURLToPath(new URL("../dist", import.meta.url));

export default defineConfig({
  publicDir: false,
  // Packages stay where npm installs them, except the SDK of OpenTelemetry: of its 28 MB the server
  // needs a small part.
  ssr: { external: true, noExternal: [/^@opentelemetry\//] },
  build: {
    ssr: true,
    // The entries replace the compiled modules of the same names.
    outDir: compiled,
    emptyOutDir: false,
    target: "node20",
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // The commands that print all commands import their list dynamically, because it contains them.
      checks: { ineffectiveDynamicImport: false },
      input: {
        index: join(compiled, "index.js"),
        vitest: join(compiled, "vitest.js"),
        jest: join(compiled, "jest.js"),
        "node-test": join(compiled, "node-test.js"),
        "cli/main": join(compiled, "cli/main.js"),
        "cli/worker": join(compiled, "cli/worker.js"),
      },
      output: {
        entryFileNames: "[name].js",
        // As deep as `dist/host`: modules find the folder of the package relative to themselves.
        chunkFileNames: "bundle/[name]-[hash].js",
      },
    },
  },
});
