// Vite's configuration for `npm run fuzz`: all targets in one CommonJS file, which Jazzer.js
// instruments.
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  ssr: { external: true },
  build: {
    ssr: "tests/fuzz/targets.ts",
    outDir: ".build/fuzz",
    target: "node20",
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: { format: "cjs", entryFileNames: "targets.cjs", codeSplitting: false },
    },
  },
});
